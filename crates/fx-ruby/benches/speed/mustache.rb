# Argument: mustache's sources.
$:.unshift(File.join(ARGV[0], "lib"))
require "mustache"
template = <<~T
  {{#items}}
  <h1>{{name}}</h1> {{{raw}}}
  {{#on}}{{#tags}}<b>{{.}}</b>{{/tags}}{{/on}}{{^on}}off{{/on}}
  {{/items}}
T
items = Array.new(100) { |i| { name: "item <#{i}>", raw: "<i>", on: i.odd?, tags: %w[a b c] } }
size = 0
40.times { size += Mustache.render(template, items: items).size }
200.times { |i| size += Mustache::Template.new(template + i.to_s).compile.size }
puts size
