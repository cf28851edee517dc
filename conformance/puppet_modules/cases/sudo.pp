class { 'sudo': purge => false, config_file_replace => false }
sudo::conf { 'ops': priority => 20, content => '%ops ALL=(ALL) NOPASSWD: /bin/true' }
sudo::conf { 'web': priority => 40, content => ['%web ALL=(ALL) /bin/ls', 'Defaults:%web !requiretty'] }
