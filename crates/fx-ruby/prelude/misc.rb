module Marshal
  MAJOR_VERSION = 4
  MINOR_VERSION = 8
  class Copy < String
    attr_accessor :__v
  end
  def self.dump(o, *rest)
    s = Copy.new("\x04\b")
    s.__v = __deep(o, {}.compare_by_identity)
    s
  end
  def self.load(s, *rest)
    unless Copy === s
      raise NotImplementedError, "Marshal.load of foreign data is not supported: only deep copies of this run"
    end
    __deep(s.__v, {}.compare_by_identity)
  end
  def self.__deep(o, seen)
    return seen[o] if seen.key?(o)
    case o
    when nil, true, false, Numeric, Symbol, Module then o
    when Proc, Method, IO then raise TypeError, "no _dump_data is defined for class #{o.class}"
    when String then seen[o] = o.dup
    when Array
      c = seen[o] = o.dup
      c.map! { |v| __deep(v, seen) }
    when Hash
      raise TypeError, "can't dump hash with default proc" if o.default_proc
      c = seen[o] = o.class.new
      o.each { |k, v| c[__deep(k, seen)] = __deep(v, seen) }
      c.default = o.default
      c
    when Struct
      c = seen[o] = o.dup
      o.members.each { |m| c[m] = __deep(o[m], seen) }
      c
    else
      raise TypeError, "singleton can't be dumped" if o.singleton_methods(false).any?
      c = seen[o] = o.dup
      o.instance_variables.each { |iv| c.instance_variable_set(iv, __deep(o.instance_variable_get(iv), seen)) }
      c
    end
  end
end
class TracePoint
  def self.new(*) = raise(NotImplementedError, "TracePoint is not supported by this runtime")
end
class Ractor
  def self.new(*) = raise(NotImplementedError, "Ractor is not supported by this runtime: it runs in one thread")
end
class RubyVM
end
TOPLEVEL_BINDING = binding
ARGF = $stdin
module ObjectSpace
  class WeakMap
    def [](k) = ObjectSpace.__weak_get(self, k)
    def []=(k, v)
      ObjectSpace.__weak_set(self, k, v)
    end
    def to_h = ObjectSpace.__weak_pairs(self)
    private :to_h
    def key?(k) = to_h.key?(k)
    alias include? key?
    alias member? key?
    def size = to_h.size
    alias length size
    def keys = to_h.keys
    def values = to_h.values
    def each(&b) = (to_h.each(&b); self)
    alias each_pair each
    def each_key(&b) = (to_h.each_key(&b); self)
    def each_value(&b) = (to_h.each_value(&b); self)
    def inspect
      h = to_h
      "#<ObjectSpace::WeakMap#{":" unless h.empty?}#{h.map { |k, v| " #{k.inspect} => #{v.inspect}" }.join(",")}>"
    end
  end
end
class Random
  DEFAULT = self
  def random_number(*a) = a.empty? ? rand : rand(*a)
  def self.random_number(*a) = a.empty? ? rand : rand(*a)
end
module Gem
  VERSION = "3.4.0"
  class LoadError < ::LoadError
  end
  class Version
    include Comparable
    attr_reader :version
    def self.correct?(v) = /\A\s*([0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)?\s*\z/.match?(v.to_s)
    def self.create(v) = Version === v ? v : (v.nil? ? nil : new(v))
    def initialize(v)
      raise ArgumentError, "Malformed version number string #{v}" unless Version.correct?(v)
      v = v.to_s.strip
      v = "0" if v.empty?
      @version = v.gsub("-", ".pre.")
    end
    def segments = @version.scan(/[0-9]+|[a-z]+/i).map { |s| s =~ /\A\d/ ? s.to_i : s }
    def prerelease? = @version.match?(/[a-zA-Z]/)
    def release
      return self unless prerelease?
      s = segments
      s.pop while s.any? { |x| String === x }
      Version.new(s.join("."))
    end
    def bump
      s = segments
      s.pop while s.any? { |x| String === x }
      s.pop if s.size > 1
      s[-1] = s[-1].succ
      Version.new(s.join("."))
    end
    def canonical_segments
      s = segments
      i = s.index { |x| String === x } || s.size
      strip = ->(a) { a = a.dup; a.pop while a.size > 0 && a.last == 0; a }
      strip.(s[0...i]) + strip.(s[i..])
    end
    def <=>(o)
      o = Version.new(o) if String === o && Version.correct?(o)
      return nil unless Version === o
      return 0 if @version == o.version
      a, b = canonical_segments, o.canonical_segments
      n = [a.size, b.size].max
      n.times do |i|
        x, y = a[i] || 0, b[i] || 0
        next if x == y
        return -1 if String === x && Numeric === y
        return 1 if Numeric === x && String === y
        return x <=> y
      end
      0
    end
    def eql?(o) = Version === o && @version == o.version
    def hash = canonical_segments.hash
    def to_s = @version
    def inspect = "#<Gem::Version #{@version.inspect}>"
    def approximate_recommendation
      s = segments
      s.pop while s.any? { |x| String === x }
      s.pop while s.size > 2
      s.push 0 while s.size < 2
      "~> #{s.join(".")}"
    end
  end
  class Requirement
    class BadRequirementError < ArgumentError
    end
    OPS = {
      "=" => ->(v, r) { v == r }, "!=" => ->(v, r) { v != r }, ">" => ->(v, r) { v > r },
      "<" => ->(v, r) { v < r }, ">=" => ->(v, r) { v >= r }, "<=" => ->(v, r) { v <= r },
      "~>" => ->(v, r) { v >= r && v.release < r.bump }
    }
    attr_reader :requirements
    def self.default = new(">= 0")
    def self.create(*i) = Requirement === i[0] ? i[0] : new(*i)
    def self.parse(o)
      return ["=", o] if Version === o
      unless o.to_s =~ /\A\s*(=|!=|>=|<=|~>|>|<)?\s*([0-9]+(?:\.[0-9a-zA-Z]+)*(?:-[0-9A-Za-z.-]+)?)\s*\z/
        raise BadRequirementError, "Illformed requirement [#{o.inspect}]"
      end
      [$1 || "=", Version.new($2)]
    end
    def initialize(*r)
      r = r.flatten.compact.uniq
      @requirements = r.empty? ? [[">=", Version.new("0")]] : r.map { |x| self.class.parse(x) }
    end
    def satisfied_by?(v)
      raise ArgumentError, "Need a Gem::Version: #{v.inspect}" unless Version === v
      @requirements.all? { |op, rv| OPS[op].call(v, rv) }
    end
    def ===(v) = satisfied_by?(v)
    def =~(v) = satisfied_by?(v)
    def none? = @requirements.size == 1 && @requirements[0] == [">=", Version.new("0")]
    def exact? = @requirements.size == 1 && @requirements[0][0] == "="
    def prerelease? = @requirements.any? { |_, v| v.prerelease? }
    def specific? = true
    def as_list = @requirements.map { |op, v| "#{op} #{v}" }
    def to_s = as_list.join(", ")
    def ==(o) = Requirement === o && as_list.sort == o.as_list.sort
    def hash = as_list.hash
    def inspect = "Gem::Requirement.new(#{as_list.map(&:inspect).join(", ")})"
  end
  class Specification
  end
  class Dependency
    attr_reader :name, :requirement
    def initialize(name, *reqs) = (@name, @requirement = name, Requirement.create(reqs))
    def match?(n, v) = n == @name && @requirement.satisfied_by?(Version.create(v))
  end
  def self.win_platform? = false
  def self.loaded_specs = {}
end
