module JSON
  VERSION = "2.6.1"
  class JSONError < StandardError; end unless const_defined?(:JSONError, false)
  class ParserError < JSONError; end unless const_defined?(:ParserError, false)
  class NestingError < ParserError; end unless const_defined?(:NestingError, false)
  class GeneratorError < JSONError; end
  UnparserError = GeneratorError
  NaN = Float::NAN
  Infinity = Float::INFINITY
  MinusInfinity = -Float::INFINITY
  class State
    attr_accessor :indent, :space, :space_before, :object_nl, :array_nl, :max_nesting, :depth
    def initialize(o = {})
      @indent, @space, @space_before = o[:indent] || "", o[:space] || "", o[:space_before] || ""
      @object_nl, @array_nl = o[:object_nl] || "", o[:array_nl] || ""
      @nan = o[:allow_nan]
      @script = o[:script_safe] || o[:escape_slash]
      @ascii = o[:ascii_only]
      @max_nesting = o.fetch(:max_nesting, 100) || 0
      @depth = 0
    end
    def str(s) = JSON.__generate(self, s, true)
    alias obj str
    alias arr str
    def gen(v) = JSON.__generate(self, v, false)
    # What only Ruby code can write.
    def other(v)
      return v.to_json(self).to_s if Hash === v || Array === v || String === v
      own = v.respond_to?(:to_json) && ![Kernel, Object].include?(v.method(:to_json).owner)
      own ? v.to_json(self).to_s : str(v.to_s)
    end
    def generate(v) = gen(v)
    def to_h
      { indent: @indent, space: @space, space_before: @space_before, object_nl: @object_nl, array_nl: @array_nl }
    end
  end
  module Ext; module Generator; State = JSON::State; end; end
  PRETTY = { indent: "  ", space: " ", object_nl: "\n", array_nl: "\n" }.freeze
  class << self
    attr_accessor :create_id
    def parse(src, opts = nil)
      opts ||= {}
      src = src.to_str if !(String === src) && src.respond_to?(:to_str)
      src = src.read if src.respond_to?(:read)
      raise TypeError, "no implicit conversion of #{src.nil? ? "nil" : src.class} into String" unless String === src
      unless src.encoding == Encoding::UTF_8 || src.encoding == Encoding::BINARY || src.ascii_only?
        src = src.encode("UTF-8")
      end
      v = __parse(src, opts[:symbolize_names], opts[:allow_nan], opts.fetch(:max_nesting, 100) || 0)
      v = __freeze(v) if opts[:freeze]
      v = __classes(v, opts[:object_class], opts[:array_class]) if opts[:object_class] || opts[:array_class]
      v
    end
    def __freeze(v) = (v.each { |*x| x.flatten.each { |y| __freeze(y) } } if Enumerable === v; v.freeze)
    def __classes(v, oc, ac)
      case v
      when Hash then (oc || Hash).new.tap { |o| v.each { |k, x| o[k] = __classes(x, oc, ac) } }
      when Array then (ac || Array).new.tap { |a| v.each { |x| a << __classes(x, oc, ac) } }
      else v
      end
    end
    def parse!(src, opts = {}) = parse(src, { max_nesting: false, allow_nan: true }.merge(opts))
    def load(src, proc = nil, opts = {})
      src = if src.respond_to?(:to_str) then src.to_str
            elsif src.respond_to?(:to_io) then src.to_io.read
            elsif src.respond_to?(:read) then src.read
            else src
            end
      opts = { max_nesting: false, allow_nan: true, create_additions: true }.merge(opts)
      v = src.nil? || src.empty? ? nil : parse(src, opts)
      __each_value(v, &proc) if proc
      v
    end
    # Every value, those inside first.
    def __each_value(v, &b)
      case v
      when Array then v.each { |x| __each_value(x, &b) }
      when Hash then v.each { |k, x| __each_value(k, &b); __each_value(x, &b) }
      end
      b.call(v)
    end
    alias restore load
    def load_file(p, o = {}) = parse(File.read(p), o)
    def generate(v, opts = nil) = (State === opts ? opts : State.new(opts ? opts.to_h : {})).gen(v)
    def dump(v, io = nil, limit = nil)
      s = State.new(max_nesting: 0, allow_nan: true).gen(v)
      io.respond_to?(:write) ? (io.write(s); io) : s
    end
    def pretty_generate(v, opts = nil) = State.new(PRETTY.merge(opts ? opts.to_h : {})).gen(v)
    def fast_generate(v, o = nil) = generate(v, o)
    def [](v, o = {}) = String === v ? parse(v, o) : generate(v, o)
    def state = State
  end
end
class Object
  def to_json(state = nil, *) = JSON.generate(to_s)
end
[Hash, Array, String, Integer, Float, NilClass, TrueClass, FalseClass].each do |k|
  k.class_eval do
    def to_json(state = nil, *)
      (JSON::State === state ? state : JSON::State.new(state ? state.to_h : {})).then do |s|
        Hash === self ? s.obj(self) : Array === self ? s.arr(self) : String === self ? s.str(self) : s.gen(self)
      end
    end
  end
end
module Kernel
  def JSON(v, *a) = String === v ? JSON.parse(v, *a) : JSON.generate(v, *a)
  def j(*o) = (o.each { |x| puts JSON.generate(x) }; nil)
  def jj(*o) = (o.each { |x| puts JSON.pretty_generate(x) }; nil)
end
