package 'httpd'
yum_repository 'epel' do
  description 'Extra packages'
  baseurl 'https://example.test/epel'
  gpgcheck false
end
