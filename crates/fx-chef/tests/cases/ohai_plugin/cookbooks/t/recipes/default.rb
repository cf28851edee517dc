log "#{node['place']} #{node['rack']['said']} #{node['site'].to_h}"
ohai 'again' do
  plugin 'rack'
  action :reload
end
