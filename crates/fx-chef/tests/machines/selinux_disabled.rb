selinux_fcontext '/srv/x' do
  secontext 'httpd_sys_content_t'
end
