# Constants written in a block belong to what is around it; a singleton class returns for its method.
A = Class.new { class InA; end; CC = 1; def self.x = InA.name; def y = CC }
p A.x, defined?(::InA), defined?(::CC), A.constants, A.new.y
S = Struct.new(:a) { HH = 1; def h = HH }
p defined?(::HH), S.new(1).h
def returned
  class << self
    return :inner
  end
  :outer
end
p returned, (1..).min(2), ((1.5..).min(2) rescue $!.class)
require "erb"
ERB.new("<%= 1 + 1 %>\n").run
