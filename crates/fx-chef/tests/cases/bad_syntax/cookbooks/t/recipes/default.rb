file '/tmp/x' do
  content 'a'
