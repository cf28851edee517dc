Chef::Config[:exception_handlers] << Teller.new("#{node['root']}/report")
file "#{node['root']}/a"
ruby_block 'x' do
  block { raise 'no' }
end
