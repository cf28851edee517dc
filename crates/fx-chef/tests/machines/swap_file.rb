swap_file '/swap' do
  size 64
  persist true
  swappiness 10
end
swap_file '/old' do
  action :remove
end
