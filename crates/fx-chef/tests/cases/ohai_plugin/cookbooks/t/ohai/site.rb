Ohai.plugin(:Site) do
  provides 'site'
  collect_data do
    site Mash.new(name: 'north', os: collect_os, hint: hint?('nothing').inspect)
  end
end
