class { 'ntp': servers => ['time1.case.test', 'time2.case.test iburst'], restrict => ['127.0.0.1', '-6 ::1'], disable_monitor => true, service_manage => false, package_manage => false }
