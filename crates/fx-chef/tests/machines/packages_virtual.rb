build_essential 'tools'
package 'awk' do
  action :remove
end
package 'editor' do
  ignore_failure true
end
package 'kept' do
  action :lock
end
