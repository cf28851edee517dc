# Argument: rouge's sources.
$:.unshift(File.join(ARGV[0], "lib"))
require "rouge"
size = 0
%w[ruby json yaml puppet shell].each do |name|
  path = File.join(ARGV[0], "spec/visual/samples", name)
  text = File.read(path, encoding: "UTF-8")
  lexer = Rouge::Lexer.find(name)
  2.times { size += Rouge::Formatters::HTML.new.format(lexer.new.lex(text)).size }
end
puts size
