file "#{node['root']}/foo" do
  content 'bar'
end

execute "cp #{node['root']}/foo #{node['root']}/copy" do
  only_if { File.exist?("#{node['root']}/foo") }
end
