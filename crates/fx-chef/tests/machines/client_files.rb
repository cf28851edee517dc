chef_client_trusted_certificate 'internal' do
  certificate "-----BEGIN CERTIFICATE-----\n"
end
chef_client_config 'client.rb' do
  chef_server_url 'https://chef.example.test'
  node_name 'n1'
  log_location 'STDOUT'
end
inspec_waiver_file_entry 'control_1' do
  file_path '/etc/chef/inspec_waivers.yml'
  expiration '2030-01-01'
  justification 'known'
end
ohai_hint 'ec2' do
  content({ 'a' => 1 })
end
