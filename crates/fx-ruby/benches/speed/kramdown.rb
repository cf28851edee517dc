# Argument: kramdown's sources.
$:.unshift(File.join(ARGV[0], "lib"))
require "kramdown"
text = File.read(File.join(ARGV[0], "benchmark/mdsyntax.text"))
size = 0
6.times { size += Kramdown::Document.new(text).to_html.size }
puts size
