$path = extlib::path_join(['/tmp/case', 'x', 'y'])
notify { "${path} ${extlib::sort_by_version(['1.10', '1.9'])}": }
