$order << 't/resources/first.rb'
unified_mode true
action :run do
  log "first acts"
end
