mdadm '/dev/md0' do
  devices %w(/dev/sdb /dev/sdc)
  level 5
end
subversion '/srv/app' do
  repository 'https://example.test/svn/app'
end
