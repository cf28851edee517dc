reboot 'now' do
  reason 'because'
  action :request_reboot
end
notify_group 'both' do
  notifies :run, 'execute[a]', :immediately
  notifies :run, 'execute[b]', :immediately
  action :run
end
execute 'a' do
  command '/bin/a'
  action :nothing
end
execute 'b' do
  command '/bin/b'
  action :nothing
end
