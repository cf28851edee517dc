$order << 't/definitions/pair.rb'
define :pair do
  log "#{params[:name]} one"
  log "#{params[:name]} two"
end
