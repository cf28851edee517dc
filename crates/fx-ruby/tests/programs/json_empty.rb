require "json"
puts JSON.pretty_generate([[], {}, { "a" => {}, "b" => [] }])
puts JSON.generate([[], {}])
