($order ||= []) << 'a/libraries/default.rb'
