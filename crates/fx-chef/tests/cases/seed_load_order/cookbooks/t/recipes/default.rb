$order << 't/recipes/default.rb'
log $order.join("\n")
log node['from_t']
t_first 'x'
t_second 'x'
t_old 'x'
pair 'defined'
include_recipe 'a::included'
