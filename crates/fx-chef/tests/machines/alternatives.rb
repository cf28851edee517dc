alternatives 'python' do
  link '/usr/bin/python'
  path '/usr/bin/python3'
  priority 100
  action [:install, :set]
end
alternatives 'editor' do
  path '/usr/bin/vi'
  action :remove
end
alternatives 'gone' do
  path '/usr/bin/gone'
  priority 1
  ignore_failure true
end
