h = {}
500_000.times { |i| h["k#{i % 1000}"] = i }
g = { a: 1, b: 2, c: 3 }
n = 0
1_000_000.times { n += g[:a] + g[:c] }
puts h.size, n
