$order << 't/resources/second.rb'
unified_mode true
action :run do
  log "second acts"
end
