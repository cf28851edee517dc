h={a: 1, "b"=>[1,2,3]*20, c: {d: "x"*70, e: nil}}
pp h
pp 1, "a"
p pp
class A; def initialize; @a=1;@b="x"*80; end; end
puts A.new.pretty_inspect.gsub(/0x\h+/,"0x1")
