template "#{node['root']}/a" do
  source 'x.erb'
end

file "#{node['root']}/after"
