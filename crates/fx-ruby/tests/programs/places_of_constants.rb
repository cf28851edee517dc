# Where constants were set.
module Outer
  module Inner
    HERE = 1
  end
end
p Outer.const_source_location("Inner::HERE")[1], Object.const_source_location("Outer::Inner")[1], Outer.const_source_location(:Missing)
p (Outer.const_source_location("inner") rescue $!.message), (Outer.const_get(:"Inner::HERE") rescue $!.message), Outer.const_source_location("::Outer")[1]
