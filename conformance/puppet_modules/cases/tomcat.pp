file { ['/tmp/case/base', '/tmp/case/base/conf']: ensure => directory }
-> file { '/tmp/case/base/conf/server.xml': content => "<?xml version='1.0'?>\n<Server port=\"8005\" shutdown=\"SHUTDOWN\"/>\n", replace => false }
-> tomcat::config::server { 'case': catalina_base => '/tmp/case/base', port => '8105' }
-> tomcat::config::server::service { 'Catalina': catalina_base => '/tmp/case/base' }
