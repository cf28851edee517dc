# How Psych writes: quotes, folded lines, block scalars, tags, anchors.
require "yaml"
require "set"
require "date"
words = ["foo", "bar: baz", "- x", "x #y", "'q'", "\"dq\"", "é", "\u{1F600}", "tab\there", "nl\n", "\n", "  lead", "trail ", "true", "no", "1.5", "0x1f", "012", "089", "1e3", "~", "", "<<", "y", ":sym", "@at", "? x", "-", "--- d", "...", "[a]", "a,b", "multi\nline", "multi\n\nline\n\n", " ind\nented", "x" * 90, "word " * 30, "word " * 30 + "end", "long words " * 12 + "\n" + "more " * 20, "a\u00a0b", "\u2028", "\e[0m", "back\\slash", "2020-01-01", "12:30", "1_000", "#c", "a:", "C:\\dir", "a\r\nb", "日本語 テキスト " * 10, "a  b " * 30]
words.each { |w| print w.to_yaml, { "k" => w }.to_yaml, { w => [[w]] }.to_yaml }
class Named
  def initialize = (@a, @b = 1, [self.class])
end
class Coded
  def encode_with(coder) = coder["x"] = 1
end
class Table < Hash; end
class Text < String; end
Pair = Struct.new(:a, :b)
a = [1]
h = { "z" => a }
[Named.new, Coded.new, Object.new, Table[1, 2], Text.new("x y"), Pair.new(1, [2]), [a, a, h, h], Set[1, "b"], 1..2, /x\/y/i, :"a b", :"a: b", :"", String, Comparable, 3r, 2i, Time.at(0).utc, Date.new(2020, 1, 2), "\xff".b, nil, { nil => nil }, { [1] => 2, { "a" => 1 } => 3 }, StandardError.new("x")].each { |o| print o.to_yaml }
print YAML.dump({ "a" => { "b" => [1, { "c" => 2 }] } }, indentation: 4), YAML.dump("word " * 40, line_width: -1), YAML.dump("word " * 40, line_width: 40)
print YAML.dump_stream(1, "a\nb\n\n", { "x" => "y\nz\n\n", "w" => 1 })
