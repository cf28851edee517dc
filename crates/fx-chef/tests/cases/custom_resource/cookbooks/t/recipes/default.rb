t_site 'www' do
  port 8080
end
t_site 'www again' do
  site 'www'
  port 8080
end
