ifconfig '192.0.2.10' do
  device 'eth1'
  mask '255.255.255.0'
  onboot 'yes'
end
route '198.51.100.0' do
  netmask '255.255.255.0'
  gateway '192.0.2.1'
  device 'eth1'
end
route '203.0.113.0' do
  netmask '255.255.255.0'
  gateway '192.0.2.1'
  action :delete
end
