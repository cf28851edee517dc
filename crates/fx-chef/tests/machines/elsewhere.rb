# What belongs to other systems and services is refused by name, not passed over.
chocolatey_package 'x' do
  ignore_failure true
end
homebrew_tap 'x/y' do
  ignore_failure true
end
habitat_package 'core/redis' do
  ignore_failure true
end
snap_package 'hello' do
  ignore_failure true
end
chef_vault_secret 'x' do
  data_bag 'd'
  admins 'a'
  ignore_failure true
end
begin
  dsc_script 'x'
rescue Exception => e
  log "#{e.class}: #{e.message}" do
    level :warn
  end
end
