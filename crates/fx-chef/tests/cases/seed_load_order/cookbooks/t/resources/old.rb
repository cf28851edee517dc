$order << 't/resources/old.rb'
actions :run
default_action :run
