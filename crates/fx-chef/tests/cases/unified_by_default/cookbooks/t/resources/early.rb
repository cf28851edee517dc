action :run do
  file "#{node['root']}/first" do
    content 'here'
  end
  raise 'not yet there' unless ::File.exist?("#{node['root']}/first")
end
