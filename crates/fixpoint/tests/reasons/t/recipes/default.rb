root = '/srv/fx-why'

directory root do
  compile_time true
end

file "#{root}/early" do
  content 'at once'
  compile_time true
end

ruby_block 'at once too' do
  block {}
  action :nothing
end.run_action(:run)

file "#{root}/plain" do
  content 'a'
  notifies :run, 'ruby_block[soon]', :immediately
  notifies :run, 'ruby_block[late]'
  notifies :run, 'ruby_block[late]'
  notifies :run, 'ruby_block[first]', :before
end

%w(soon late first chained).each do |name|
  ruby_block name do
    block {}
    action :nothing
    notifies :run, 'ruby_block[chained]', :immediately if name == 'soon'
  end
end

ruby_block 'watching' do
  block {}
  action :nothing
  subscribes :run, "file[#{root}/plain]", :immediately
end

ruby_block 'watching late' do
  block {}
  action :nothing
  subscribes :run, "file[#{root}/plain]"
end

t_site 'www' do
  where "#{root}/www"
end

execute 'guarded' do
  command 'true'
  only_if 'true'
  not_if 'true'
end

execute 'guarded by a block' do
  command 'true'
  only_if { false }
  not_if 'false'
end

execute 'made already' do
  command 'false'
  creates "#{root}/plain"
end

log 'said' do
  not_if { ::File.exist?("#{root}/nothing") }
end

file "#{root}/both" do
  content 'b'
  action [:create, :touch]
end

ruby_block 'fails' do
  block { raise 'no' }
  ignore_failure true
end
