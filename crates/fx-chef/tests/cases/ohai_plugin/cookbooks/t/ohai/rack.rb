Ohai.plugin(:Rack) do
  provides 'rack', 'rack/unit'
  depends 'site'
  collect_data(:default) { rack Mash.new }
  collect_data(:linux) do
    rack Mash.new
    rack[:unit] = 7
    rack[:site] = site['name']
    rack[:said] = shell_out('echo told').stdout.strip
  end
end
