file "#{node['root']}/list" do
  content "a\nb\n"
end

names = shell_out("cat #{node['root']}/list").stdout.lines
names.each { |n| directory "#{node['root']}/#{n.chomp}" }
