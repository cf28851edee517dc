# Each line says in which pass it was run.
$order = ['plain Ruby, compile']
root = node['root']

foo = file "#{root}/foo" do
  content lazy { $order << 'lazy, converge'; 'bar' }
  only_if { $order << 'only_if, converge'; true }
end
$order << "declared #{foo.class} #{foo.class == Chef::Resource::File} in the collection: #{run_context.resource_collection.include?(foo)}"
$order << "on disk at compile: #{::File.exist?(foo.path)}"
$order << "its provider: #{foo.provider_for_action(:create).class}"

ruby_block 'look' do
  block { $order << "ruby_block, converge, on disk: #{::File.exist?(foo.path)}" }
end

file "#{root}/order" do
  content(lazy { $order.join("\n") + "\n" })
  backup false
end

log 'told' do
  message(lazy { ::File.read("#{root}/order") })
  not_if { ($order << 'not_if, converge') && false }
end

ruby_block 'tell' do
  block { Chef::Log.fatal($order.join(' | ').gsub(root, 'ROOT')) }
end
