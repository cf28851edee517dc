# The command does not say what it makes; the run shows it.
execute "touch #{node['root']}/made" do
  not_if { ::File.exist?("#{node['root']}/made") }
end

log 'it is there' if ::File.exist?("#{node['root']}/made")
