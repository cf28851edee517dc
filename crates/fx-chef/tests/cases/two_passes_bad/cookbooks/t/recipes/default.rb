file "#{node['root']}/foo" do
  content 'bar'
end

if File.exist?("#{node['root']}/foo")
  execute "cp #{node['root']}/foo #{node['root']}/copy"
end
