# What full_message says: causes, colours, order, empty messages.
def mk
  begin
    raise "inner"
  rescue => e
    x = ArgumentError.new("outer\nline2")
    x.set_backtrace(["c.rb:3", "d.rb:4", "e.rb:5"])
    e.set_backtrace(["a.rb:1", "b.rb:2"])
    raise x rescue return $!
  end
end
e = mk
[{ highlight: false }, { highlight: true }, { highlight: false, order: :bottom }, { highlight: true, order: "bottom" }, { highlight: false, order: :top }].each do |o|
  p e.full_message(**o)
end
[RuntimeError, StandardError].each do |c|
  x = c.new("")
  x.set_backtrace(["a.rb:1"])
  p x.full_message(highlight: false), x.full_message(highlight: true)
end
[{ order: 3 }, { order: :up }, { highlight: 3 }].each do |o|
  e.full_message(**o)
rescue => q
  p q
end
