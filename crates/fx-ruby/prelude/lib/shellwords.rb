module Shellwords
  def shellsplit(line)
    words = []
    field = +""
    form = /\G\s*(?>([^\0\s\\\'\"]+)|'([^\0\']*)'|"((?:[^\0\"\\]|\\[^\0])*)"|(\\[^\0]?)|(\S))(\s|\z)?/m
    line.scan(form) do |word, sq, dq, esc, garbage, sep|
      raise ArgumentError, "Unmatched quote: #{line.inspect}" if garbage
      field << (word || sq || (dq && dq.gsub(/\\([$`"\\\n])/, '\\1')) || esc.gsub(/\\(.)/, '\\1'))
      if sep
        words << field
        field = +""
      end
    end
    words
  end
  def shellescape(str)
    str = str.to_s
    return "''".dup if str.empty?
    str.gsub(/[^A-Za-z0-9_\-.,:+\/@\n]/) { "\\#{$&}" }.gsub(/\n/, "'\n'")
  end
  def shelljoin(a) = a.map { |x| shellescape(x) }.join(" ")
  module_function :shellsplit, :shellescape, :shelljoin
  class << self
    alias split shellsplit
    alias shellwords shellsplit
    alias escape shellescape
    alias join shelljoin
  end
  alias shellwords shellsplit
  module_function :shellwords
end
class String
  def shellsplit = Shellwords.split(self)
  def shellescape = Shellwords.escape(self)
end
class Array
  def shelljoin = Shellwords.join(self)
end
