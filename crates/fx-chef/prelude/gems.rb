# The gems Chef itself ships that cookbooks name, as far as they are used.
module IniParse
  class Line
    attr_accessor :key, :value
    def initialize(k, v) = (@key, @value = k, v)
  end
  class Section
    include Enumerable
    attr_reader :key
    def initialize(key) = (@key, @lines = key, {})
    def [](k) = @lines[k.to_s]
    def []=(k, v)
      @lines[k.to_s] = v
    end
    def option(k, v) = self[k] = v
    def has_option?(k) = @lines.key?(k.to_s)
    def each(&b) = @lines.map { |k, v| Line.new(k, v) }.each(&b)
    def delete(k) = @lines.delete(k.to_s)
    def to_ini
      (@key == "__anonymous__" ? "" : "[#{@key}]\n") +
        @lines.flat_map { |k, v| Array(v).map { |x| "#{k} = #{x}\n" } }.join
    end
  end
  class Document
    include Enumerable
    def initialize = @sections = {}
    def section(name, *)
      s = @sections[name] ||= Section.new(name)
      yield s if block_given?
      s
    end
    def [](k) = @sections[k.to_s]
    def has_section?(k) = @sections.key?(k.to_s)
    def each(&b) = @sections.values.each(&b)
    def delete(k) = @sections.delete(k.to_s)
    def option(k, v) = section("__anonymous__").option(k, v)
    def to_ini = @sections.values.map(&:to_ini).join("\n")
    alias to_s to_ini
    def to_hash = @sections.to_h { |n, s| [n, s.to_h { |l| [l.key, l.value] }] }
    def save(path) = ::File.write(path, to_ini)
  end
  def self.gen
    d = Document.new
    yield d
    d
  end
  def self.parse(text)
    d = Document.new
    at = nil
    text.each_line do |l|
      l = l.strip
      case l
      when "", /\A[;#]/ then nil
      when /\A\[(.+)\]\z/ then at = d.section($1)
      when /\A(.*?)\s*=\s*(.*)\z/ then (at || d.section("__anonymous__"))[$1] = $2
      end
    end
    d
  end
  def self.open(path) = parse(::File.read(path))
end
module Addressable
  class URI
    def self.parse(text) = ::URI.parse(text.to_s)
    def self.escape(text) = ::URI::DEFAULT_PARSER.escape(text)
    def self.encode(text) = escape(text)
  end
end
module Plist
  def self.parse_xml(*) = raise(NotImplementedError, "plist is not supported yet")
end
module Diff
  module LCS; end
end
