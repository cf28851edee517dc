log node.chef_environment + ' ' + node['a']
