a = []
1_000_000.times { |i| a << i }
t = 0
a.map { |x| x * 2 }.select { |x| x % 3 == 0 }.each { |x| t += x }
puts t
