require "yaml"
data = Array.new(300) do |i|
  { "id" => i, "name" => "row #{i}", "ok" => i.even?, "none" => nil, "rate" => i / 8.0,
    "tags" => ["a", "true", "1.5", "two words"], "text" => "one\ntwo\n", "deep" => { "x" => [1, { "y" => "z" }] } }
end
size = 0
4.times do
  text = YAML.dump(data)
  size += text.size + YAML.load(text).size
end
puts size
