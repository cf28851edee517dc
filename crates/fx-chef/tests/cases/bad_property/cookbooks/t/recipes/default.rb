file "#{node['root']}/before"

file "#{node['root']}/a" do
  contents 'a'
end
