($order ||= []) << 't/libraries/default.rb'
