class { 'limits': purge_limits_d_dir => false }
limits::limits { '*/nofile': soft => 1024, hard => 2048 }
limits::limits { 'root/nofile': both => 1048576 }
