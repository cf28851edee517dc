template "#{node['root']}/motd" do
  source 'motd.erb'
  mode '0640'
  variables names: %w(a b)
end
link "#{node['root']}/motd.link" do
  to "#{node['root']}/motd"
end
directory "#{node['root']}/gone" do
  action :delete
end
