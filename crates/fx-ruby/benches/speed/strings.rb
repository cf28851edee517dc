s = +""
300_000.times { |i| s << "w#{i} " }
puts s.split(" ").map { |w| w.upcase }.join(",").size
puts s.scan(/\d+/).size, s.gsub(/w(\d)/) { $1 }.size, s.gsub("w", "vv").size, s.tr("0-9", "a-j").count("a")
lines = s.each_char.each_slice(80).map(&:join)
n = 0
lines.each do |line|
  n += line.index("9") || 0
  n += line.strip.size + line[3, 10].size + line.sub(/\A\s+/, "").size
  n += 1 if line.start_with?("w1") || line =~ /99 w/
  n += line.reverse.bytes.sum + line.hash % 2 * 0
end
puts n
100_000.times { |i| n += format("%05d %s %x", i, "x", i).size + i.to_s.rjust(10, "0").to_sym.size }
puts n
