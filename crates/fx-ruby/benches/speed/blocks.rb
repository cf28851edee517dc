list = (0...1000).to_a
total = 0
200.times do
  total += list.each_slice(7).sum { |s| s.first }
  total += list.each_with_index.map { |x, i| x * i }.select(&:even?).reduce(:+)
  total += list.inject { |a, b| a + b }
  list.each_cons(2) { |a, b| total += b - a }
  total += list.zip(list).map { |a, b| a + b }.max
  total += list.each_with_object([]) { |x, memo| memo << x if x.odd? }.size
  total += list.partition { |x| x > 500 }.map(&:size).first
  total += list.group_by { |x| x % 10 }.values.flat_map { |v| v.take_while { |x| x < 400 } }.size
  total += (1..300).step(3).to_a.reverse_each.find { |x| x < 50 }
  h = list.to_h { |x| [x, x + 1] }
  h.each { |k, v| total += v - k }
  total += h.select { |k, v| v.odd? }.transform_values { |v| v * 2 }.sum { |k, v| v }
  total += list.count { |x| x % 3 == 0 } + list.each_entry.first
  0.upto(500) { |i| total += 1 if list.any? { |x| x == i / 50 } }
end
add = ->(a, b) { a + b }
300_000.times { |i| total = add.call(total, i) }
def twice = yield(1) + yield(2)
300_000.times { total += twice { |x| x } }
puts total
