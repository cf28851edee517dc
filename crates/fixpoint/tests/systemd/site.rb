unit = "[Unit]\nDescription=fixpoint's test\n[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
systemd_unit 'fxdemo.service' do
  content unit
  action :create
end
systemd_unit 'fxecho.service' do
  content unit
  action :create
end
systemd_unit 'fxdemo.timer' do
  content(Timer: { OnBootSec: '1d', Unit: 'fxdemo.service' }, Install: { WantedBy: 'timers.target' })
  action [:create, :enable, :start]
end
systemd_unit 'fxdemo.socket' do
  content(Socket: { ListenStream: '/run/fxdemo.sock', Service: 'fxecho.service' }, Install: { WantedBy: 'sockets.target' })
  action [:create, :enable, :start]
end
service 'fxdemo' do
  action [:enable, :start]
end
directory '/srv/fxdemo'
mount '/srv/fxdemo' do
  device 'tmpfs'
  fstype 'tmpfs'
  options 'size=1m'
  action [:mount, :enable]
end
user 'fxdemo' do
  system true
  shell '/bin/false'
end
