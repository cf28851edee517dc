# Methods that a class has only where they are in use.
module Loud
  refine String do
    def shout = upcase + "!"
    def length = super * 100
  end
end
module Other
  def self.call = "a".shout
end
class Base; def who = "base"; end
class Sub < Base; end
module Who
  refine Base do
    def who = "refined " + super
    private def hidden = 1
  end
end
module Sum
  refine Integer do
    def +(other) = "sum"
  end
end
def before = "b".shout rescue "not here"
p before
using Loud
p "a".shout, "abc".length, ["x"].map(&:shout), "y".send(:shout), eval('"z".shout')
p (Other.call rescue $!.class), before
class Inside
  using Sum
  def self.call = 1 + 2
end
p Inside.call, 1 + 2
using Who
p Sub.new.who, Base.new.who
p (Base.new.hidden rescue $!.class)
p Loud.class, Module.used_modules.sort_by(&:name)
p (Class.new { refine(String) {} } rescue $!.class), (Module.new { refine(5) {} } rescue $!.message), (Module.new { refine String } rescue $!.message)
p (using Class rescue $!.message)
