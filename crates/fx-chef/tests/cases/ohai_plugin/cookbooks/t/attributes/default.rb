default['place'] = "#{node['rack']['site']}-#{node['rack']['unit']}"
