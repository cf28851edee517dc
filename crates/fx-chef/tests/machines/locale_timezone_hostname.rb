locale 'set system locale' do
  lang 'de_DE.UTF-8'
end
timezone 'Europe/Berlin'
hostname 'web1.example.test'
