unified_mode true
property :where, String, required: true
action :create do
  directory new_resource.where
  file "#{new_resource.where}/index" do
    content 'x'
    notifies :run, 'ruby_block[inner]', :immediately
  end
  ruby_block 'inner' do
    block {}
    action :nothing
  end
  t_part 'deep' do
    where new_resource.where
  end
end
