# A small web server: its user, its page, its site, and a reload when the site changed. Try
# it without touching the machine:  fixpoint try examples/puppet/web.pp

$root  = '/srv/www/example'
$names = ['example.org', 'www.example.org']

user { 'webmaster':
  ensure => present,
  home   => '/srv/www',
  shell  => '/usr/sbin/nologin',
  system => true,
}

file { ['/srv/www', $root, '/etc/nginx', '/etc/nginx/sites-available']:
  ensure => directory,
  mode   => '0755',
}

file { "${root}/index.html":
  content => "<h1>It works on ${facts['os']['name']}</h1>\n",
  mode    => '0644',
  owner   => 'webmaster',
}

$site = @("SITE")
  server {
    listen 80;
    server_name ${join($names, ' ')};
    root ${root};
  }
  | SITE

file { '/etc/nginx/sites-available/example.conf':
  content => $site,
  mode    => '0644',
  notify  => Exec['reload nginx'],
}

# A real policy says: service { 'nginx': subscribe => File[...] }
exec { 'reload nginx':
  command     => '/bin/echo nginx would be reloaded',
  refreshonly => true,
}
