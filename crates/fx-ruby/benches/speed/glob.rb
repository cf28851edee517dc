require "tmpdir"
require "fileutils"
Dir.mktmpdir do |top|
  20.times do |i|
    10.times { |j| FileUtils.mkdir_p("#{top}/d#{i}/e#{j}") }
    20.times { |j| File.write("#{top}/d#{i}/f#{j}.#{j.even? ? 'rb' : 'txt'}", "") }
  end
  n = 0
  60.times do
    n += Dir.glob("#{top}/**/*.rb").size
    n += Dir.glob("*/f1*.{rb,txt}", base: top).size
    n += Dir["#{top}/d[0-5]/e?"].size
    n += Dir.glob("**/", base: top).size
  end
  puts n
end
