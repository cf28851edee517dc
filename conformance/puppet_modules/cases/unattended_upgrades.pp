class { 'unattended_upgrades': age => { 'max' => 9 }, auto => { 'reboot' => false, 'remove' => true }, mail => { 'to' => 'root@case.test' }, blacklist => ['linux-image'] }
