kernel_module 'loop' do
  options ['max_loop=8']
end
kernel_module 'floppy' do
  action :blacklist
end
sysctl 'net.ipv4.ip_forward' do
  value 1
  comment 'a router'
end
sysctl 'vm.swappiness' do
  value 60
end
