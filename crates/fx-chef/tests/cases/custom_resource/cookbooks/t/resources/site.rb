unified_mode true
property :site, String, name_property: true
property :port, Integer, default: 80

action :create do
  directory "#{node['root']}/sites"
  file "#{node['root']}/sites/#{new_resource.site}" do
    content "port #{new_resource.port}\n"
  end
end
