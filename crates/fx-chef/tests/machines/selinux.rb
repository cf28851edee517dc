selinux_boolean 'httpd_can_network_connect' do
  value true
end
selinux_fcontext '/srv/www(/.*)?' do
  secontext 'httpd_sys_content_t'
end
selinux_port '8080' do
  protocol 'tcp'
  secontext 'http_port_t'
end
selinux_permissive 'httpd_t'
selinux_user 'staff_u' do
  range 's0-s0:c0.c1'
  roles %w(staff_r sysadm_r)
end
selinux_login 'kim' do
  user 'staff_u'
end
selinux_state 'enforcing' do
  action :enforcing
end
