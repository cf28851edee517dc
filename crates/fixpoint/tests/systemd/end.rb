%w(fxdemo.timer fxdemo.socket).each do |name|
  systemd_unit name do
    action [:stop, :disable]
  end
end
service 'fxdemo' do
  action [:stop, :disable]
end
mount '/srv/fxdemo' do
  device 'tmpfs'
  action [:umount, :disable]
end
user 'fxdemo' do
  action :remove
end
