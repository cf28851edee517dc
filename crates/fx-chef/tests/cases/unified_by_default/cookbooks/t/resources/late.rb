unified_mode false
action :run do
  file "#{node['root']}/second" do
    content 'here'
  end
  log 'already there' if ::File.exist?("#{node['root']}/second")
end
