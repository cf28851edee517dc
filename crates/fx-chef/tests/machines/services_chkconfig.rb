service 'app' do
  run_levels [3, 5]
  action [:enable, :start]
end
service 'off' do
  action :disable
end
