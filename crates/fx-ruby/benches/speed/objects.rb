class P
  def initialize(x) = @x = x
  def x = @x
  def add(n) = @x += n
  def each2(n)
    i = 0
    while i < n
      yield i
      i += 1
    end
  end
end
p = P.new(1)
3_000_000.times { p.add(1) }
s = 0
p.each2(2_000_000) { |i| s += i }
puts p.x, s
