h = { "bx" => 1, "ay" => 2 }
p h.sort_by { |a| a }, h.sort_by { |k, v| -v }, h.group_by { |a| a.size }
p h.min_by { |a| a[1] }, h.max_by { |k, v| v }
p h.all? { |a| a.is_a?(Array) }, h.any? { |a| a.is_a?(Array) }, h.count { |a| a.is_a?(Array) }
p h.find { |a| a[1] == 2 }, h.find_all { |a| a[1] == 2 }, h.partition { |a| a[1] == 2 }
p h.flat_map { |a| a }, h.filter_map { |a| a[0] if a[1] == 1 }, h.sum { |a| a[1] }
