# Constants of Chef are seen in recipes without their prefix.
log "#{Passwords.one} #{Log.equal?(Chef::Log)}"

# A method defined in a resource's block is the resource's own.
ruby_block 'own method' do
  def spell(word) = word.chars.join('-')
  block { Chef::Log.fatal(spell('abc')) }
end

# What is no variable and no method is said to be that; a constant is missed in the recipe's class.
begin
  nonsense
rescue NameError => e
  Chef::Log.fatal("#{e.class} #{e.message}")
end
begin
  Nonsense
rescue NameError => e
  Chef::Log.fatal(e.message)
end
begin
  ::File.read('/nowhere/at/all')
rescue SystemCallError => e
  Chef::Log.fatal(e.message)
end

# A partial that is given its variables sees nothing else.
template "#{node['root']}/outer" do
  variables word: lazy { 'late' }
end
