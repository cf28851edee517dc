directory "#{node['root']}/d"
file "#{node['root']}/d/f" do
  content 'x'
end
execute 'true' do
  not_if 'true'
end
