require "yaml"
p YAML.load("a:\n  b: [\n    'x: y',\n  ]\n  c: {d: 1,\ne: 2\n}\n")
