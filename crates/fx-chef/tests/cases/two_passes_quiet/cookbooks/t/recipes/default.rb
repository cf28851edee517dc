# Nobody notifies it, so nothing comes too late.
file "#{node['root']}/never" do
  action :nothing
end

log 'it is there' if ::File.exist?("#{node['root']}/never")
