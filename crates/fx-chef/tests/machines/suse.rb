zypper_repository 'extra' do
  baseurl 'https://example.test/suse'
  gpgcheck false
end
