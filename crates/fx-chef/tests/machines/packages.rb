package 'curl'
package %w(git vim) do
  action :upgrade
end
apt_package 'old' do
  action :purge
end
dpkg_package 'local' do
  source '/tmp/local.deb'
end
