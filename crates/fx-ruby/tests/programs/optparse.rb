require "optparse"
def t; p yield; rescue => e; puts "#{e.class}: #{e.message.lines.first}"; end
o={}
op=OptionParser.new do |x|
  x.banner="Usage: x [options]"
  x.separator ""
  x.on("-v","--[no-]verbose","Run verbosely"){|v| o[:v]=v}
  x.on("-n","--name NAME","Name of it"){|v| o[:n]=v}
  x.on("--count=N",Integer,"Count"){|v| o[:c]=v}
  x.on("-l","--list a,b",Array,"List"){|v| o[:l]=v}
  x.on("--opt [X]","Optional"){|v| o[:o]=v}
  x.on("--type TYPE",[:text,:binary],"Type"){|v| o[:t]=v}
  x.on_tail("-h","--help","Help"){ puts x }
end
puts op
t{op.parse(%w[-v -n foo bar --count 5 --list x,y --opt --type bin rest])}; p o
t{op.parse(%w[--no-verbose -nfoo --count=7 --verb])}; p o
t{op.parse(%w[--bad])}; t{op.parse(%w[--count x])}; t{op.parse(%w[--name])}; t{op.parse(%w[-z])}; t{op.parse(%w[--type zip])}; t{op.parse(%w[a -- -v])}
h={}; t{op.parse(%w[-v --count 3 z], into: h)}; p h
t{op.order(%w[-v a -n b])}
