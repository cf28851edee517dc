mount '/data' do
  device '/dev/sdb1'
  fstype 'ext4'
  options 'noatime,rw'
  action [:mount, :enable]
end
mount '/old' do
  device '/dev/sdc1'
  action [:umount, :disable]
end
