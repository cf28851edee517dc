# Try it without touching the machine:  fixpoint try examples/chef/cookbooks/web

user 'webmaster' do
  home '/srv/www'
  shell '/usr/sbin/nologin'
  system true
end

directory node['web']['root'] do
  recursive true
  mode '0755'
end

file "#{node['web']['root']}/index.html" do
  content "<h1>It works on #{node['platform']}</h1>\n"
  mode '0644'
  owner 'webmaster'
end

directory '/etc/nginx/sites-available' do
  recursive true
end

template '/etc/nginx/sites-available/example.conf' do
  source 'site.conf.erb'
  variables names: node['web']['names'], root: node['web']['root']
  mode '0644'
  notifies :run, 'execute[reload nginx]', :delayed
end

# A real cookbook notifies: service[nginx]
execute 'reload nginx' do
  command '/bin/echo nginx would be reloaded'
  action :nothing
end
