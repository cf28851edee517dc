ruby_block 'still' do
  block {}
  action :nothing
end
file "#{node['root']}/a" do
  content 'x'
  notifies :run, 'ruby_block[still]', :delayed
end
execute 'false'
file "#{node['root']}/never"
