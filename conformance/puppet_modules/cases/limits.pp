class { 'limits': purge_limits_d_dir => false }
limits::limits { '*/nofile': soft => 1000, hard => 2000 }
limits::limits { 'root/nofile': both => 3000 }
