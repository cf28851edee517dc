ruby_block 'late' do
  block {}
  action :nothing
end
ruby_block 'soon' do
  block {}
  action :nothing
end
ruby_block 'early' do
  block {}
  action :nothing
end
file "#{node['root']}/f" do
  content 'x'
  notifies :run, 'ruby_block[late]'
  notifies :run, 'ruby_block[soon]', :immediately
  notifies :run, 'ruby_block[early]', :before
end
file "#{node['root']}/g" do
  content 'x'
  notifies :run, 'ruby_block[late]'
end
ruby_block 'watcher' do
  block {}
  action :nothing
  subscribes :run, "file[#{node['root']}/g]", :immediately
end
