($order ||= []) << 't/attributes/default.rb'
default['from_t'] = "seen by t: #{node['from_a']}"
