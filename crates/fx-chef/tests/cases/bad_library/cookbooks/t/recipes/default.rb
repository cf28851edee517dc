file "#{node['root']}/a"
