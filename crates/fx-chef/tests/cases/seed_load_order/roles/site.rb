name 'site'
run_list 'recipe[t]', 'role[inner]'
