Chef::Config[:report_handlers] << Teller.new("#{node['root']}/report")
Chef::Config[:report_handlers] << Chef::Handler::JsonFile.new(path: "#{node['root']}/json")
seen = []
root = node['root']
Chef.event_handler do
  on(:resource_updated) { |r, action| seen << "#{r} #{action}" }
  on(:run_completed) { ::File.write("#{root}/events", seen.inspect) }
end
file "#{node['root']}/a" do
  content 'a'
end
log 'nothing'
