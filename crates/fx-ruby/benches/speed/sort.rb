seed = 42
list = Array.new(120_000) { seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff }
puts list.sort.first, list.sort_by { |x| -x }.first, list.sort { |a, b| b <=> a }.last
words = list.first(60_000).map { |x| x.to_s(36) }
puts words.sort.first, words.sort_by { |w| [w.size, w] }.last, words.min_by(&:size), words.uniq.size
puts words.group_by { |w| w[0] }.map { |k, v| [k, v.size] }.sort.first.inspect
def quick(a)
  return a if a.size < 2
  pivot, *rest = a
  low, high = rest.partition { |x| x < pivot }
  quick(low) + [pivot] + quick(high)
end
puts quick(list.first(20_000))[100]
