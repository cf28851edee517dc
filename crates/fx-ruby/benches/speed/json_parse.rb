require "json"
row = '{"id": 12, "name": "row \\"1\\" \\u00fc", "ok": true, "none": null, "rate": 1.25e3, "tags": ["a", "b\\n", "c"], "deep": {"x": [1, 2, [3, {"y": "z"}]]}}'
text = "[" + ([row] * 500).join(",\n") + "]"
size = 0
30.times { size += JSON.parse(text).size }
10.times { size += JSON.parse(text, symbolize_names: true).size }
puts size
