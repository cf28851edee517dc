file "#{Chef::Config[:file_cache_path]}/fetched" do
  content 'x'
end
