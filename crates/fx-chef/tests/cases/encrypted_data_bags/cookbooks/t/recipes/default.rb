secret = 'a shared secret'
%w(one two three).each do |id|
  item = data_bag_item('secrets', id, secret)
  file "#{node['root']}/#{id}" do
    content item.to_h.inspect
    sensitive true
  end
  log "#{id} #{item['pw']}"
end
begin
  data_bag_item('secrets', 'three', 'another')['pw']
rescue => e
  log "#{e.class}: #{e.message}"
end
begin
  data_bag_item('secrets', 'bad', secret)['pw']
rescue => e
  log "#{e.class}: #{e.message}"
end
