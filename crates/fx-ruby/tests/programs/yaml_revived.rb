# Objects that tags name, and what a text that is no YAML is told.
require "yaml"
require "set"
require "ostruct"
Place = Struct.new(:x, :y)
class Thing
  def initialize = @a = 1
end
def t
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
[OpenStruct.new(a: 1), 1..3, "a"..."c", Set[1, 2], Place.new(1, [2]), 3r, /a/i, String].each { |o| t { YAML.unsafe_load(o.to_yaml) } }
t { YAML.unsafe_load(Thing.new.to_yaml).instance_variables }
t { YAML.load("--- !ruby/object:Thing\na: 1\n") }
t { YAML.load("--- !ruby/range 1..2\n") }
["a: [1", "a: {b: 1", "a: 'x", "a: \"x", "a: @b", "a: `b", "a: %b", "a: b: c"].each { |text| t { YAML.load(text) } }
begin
  YAML.load("a:\n  - [1,\n", filename: "some.yml")
rescue Psych::SyntaxError => e
  p e.file, e.line, e.column, e.problem, e.context
end
