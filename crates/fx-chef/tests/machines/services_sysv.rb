service 'app' do
  action [:enable, :start]
end
service 'placed' do
  priority 80
  action :enable
end
service 'levels' do
  priority(2 => [:start, 20], 0 => [:stop, 80])
  action :enable
end
service 'off' do
  supports status: true, restart: false
  action [:disable, :restart]
end
