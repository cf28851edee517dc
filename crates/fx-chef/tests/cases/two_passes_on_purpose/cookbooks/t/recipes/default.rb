file "#{node['root']}/early" do
  content 'now'
  compile_time true
end

text = File.read("#{node['root']}/early")
log "it says #{text}"
