require "json"
rows = Array.new(500) do |i|
  { "id" => i, "name" => "row \"#{i}\"", "ok" => i.even?, "none" => nil, "rate" => i / 7.0,
    "tags" => ["a", "b\n", "üé"], "deep" => { x: [1, 2, [3, { y: "z" }]] } }
end
size = 0
30.times { size += JSON.generate(rows).size }
10.times { size += JSON.pretty_generate(rows).size + rows.to_json.size }
puts size
