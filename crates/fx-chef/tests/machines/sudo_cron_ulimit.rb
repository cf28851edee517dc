sudo 'ops' do
  user 'kim'
  nopasswd true
  commands ['/bin/ls']
end
cron_d 'nightly' do
  minute '5'
  hour '3'
  command '/bin/true'
end
cron_access 'kim'
user_ulimit 'kim' do
  filehandle_limit 4096
end
