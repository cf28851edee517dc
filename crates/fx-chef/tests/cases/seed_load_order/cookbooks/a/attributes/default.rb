($order ||= []) << 'a/attributes/default.rb'
default['from_a'] = 'set by a'
