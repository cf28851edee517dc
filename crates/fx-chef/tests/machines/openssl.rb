openssl_rsa_private_key '/etc/app/key.pem' do
  key_length 2048
end
openssl_dhparam '/etc/app/dh.pem'
openssl_rsa_public_key '/etc/app/key.pub' do
  private_key_path '/etc/app/key.pem'
end
openssl_rsa_public_key '/etc/app/none.pub' do
  private_key_content 'TEXT'
  ignore_failure true
end
