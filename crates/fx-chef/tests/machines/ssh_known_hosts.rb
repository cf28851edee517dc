ssh_known_hosts_entry 'one.example.test' do
  key 'AAAAB3'
end
ssh_known_hosts_entry 'two.example.test' do
  port 2222
  key 'AAAAC4'
  key_type 'ed25519'
end
ssh_known_hosts_entry 'scanned.example.test'
