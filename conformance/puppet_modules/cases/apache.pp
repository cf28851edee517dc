class { 'apache': default_vhost => false, mpm_module => 'event', servername => 'web.case.test', keepalive => 'On' }
apache::vhost { 'site.case.test': port => 8081, docroot => '/srv/site', serveraliases => ['www.case.test'], options => ['-Indexes'], directories => [{ 'path' => '/srv/site', 'require' => 'all granted' }] }
class { 'apache::mod::status': requires => 'local' }
