file "#{node['root']}/a" do
  mode 'rw'
  content 1
end
