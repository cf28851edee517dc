$joined = extlib::path_join(['/tmp/case', 'x', 'y'])
notify { "${joined} ${extlib::sort_by_version(['1.10', '1.9'])}": }
