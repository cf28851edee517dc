p [1].send(:initialize, 2, 3), { a: 1 }.send(:initialize), +"a".dup.send(:initialize, "b")
class Span < Range
  def initialize(a, b) = super(a, b + 1)
end
p Span.new(1, 2), Span.new(1, 2).frozen?, (1..2).frozen?, (1..2).dup.frozen?, (1..2).clone.frozen?
p (1..2).send(:initialize, 1, 2) rescue p $!.message
p Range.new(1) rescue p $!.message
p Range.new(Object.new, 1) rescue p $!.message
h = {}.compare_by_identity
h["a".dup] = 1
p h.except(1).compare_by_identity?, h.transform_values { 1 }.compare_by_identity?
p [[1, 2]].to_h { 3 } rescue p $!.message
p [1, 2].cycle("x") { } rescue p $!.message
p [].values_at(0..2), [1, 2, 3].zip([4].each), [1, 2].fill(0, 1, 3)
p [3, 1].all?(Integer), ([1].all?(1, 2) rescue $!.message), [1, 2].inject("+"), (1..5).cover?(6..7)
