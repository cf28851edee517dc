class Size
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(other) = Size === other ? n <=> other.n : nil
end
p Size.new(1) == Size.new(1), Size.new(1) == Size.new(2), Size.new(1) == 1
class Loop
  include Comparable
  def <=>(other) = (self == other ? 0 : 1)
end
p Loop.new == Loop.new
p (1.clamp(1, nil) rescue $!), (Size.new(1).clamp(Size.new(2), 3) rescue $!.message)
