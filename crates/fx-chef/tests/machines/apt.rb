apt_update 'all' do
  action :update
end
apt_preference 'nginx' do
  pin 'version 1.2*'
  pin_priority '700'
end
apt_repository 'nginx' do
  uri 'https://example.test/debian'
  components ['main']
  cache_rebuild false
end
