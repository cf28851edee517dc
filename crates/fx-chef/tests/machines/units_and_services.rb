systemd_unit 'app.service' do
  content({ 'Unit' => { 'Description' => 'App' }, 'Service' => { 'ExecStart' => '/bin/app' } })
  action [:create, :enable, :start]
end
service 'ssh' do
  action [:enable, :start]
end
service 'cron' do
  action [:disable, :stop]
end
chef_client_systemd_timer 'periodic'
