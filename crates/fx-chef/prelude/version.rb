# Versions and constraints on them.
class Chef
  class Version
    include Comparable
    attr_reader :major, :minor, :patch
    def initialize(str = "")
      case str.to_s.strip
      when /\A(\d+)\.(\d+)\.(\d+)\z/ then @major, @minor, @patch = $1.to_i, $2.to_i, $3.to_i
      when /\A(\d+)\.(\d+)\z/ then @major, @minor, @patch = $1.to_i, $2.to_i, 0
      else raise Chef::Exceptions::InvalidCookbookVersion, "'#{str}' does not match 'x.y.z' or 'x.y'"
      end
    end
    def inspect = to_s
    def to_s = "#{@major}.#{@minor}.#{@patch}"
    def to_a = [@major, @minor, @patch]
    def <=>(other) = other.is_a?(Version) ? to_a <=> other.to_a : to_a <=> Version.new(other).to_a
    def hash = to_a.hash
    def eql?(other) = other.is_a?(Version) && self == other
    class Platform < Version; end
  end

  class VersionConstraint
    OPS = %w{< > = <= >= ~>}.freeze
    attr_reader :op, :version
    def initialize(spec = ">= 0.0.0")
      spec = spec[0] if spec.is_a?(Array) && spec.size == 1
      spec = ">= 0.0.0" if spec.nil? || spec == []
      unless spec.is_a?(String)
        raise Chef::Exceptions::InvalidVersionConstraint,
          "VersionConstraint should be created from a String. You gave: #{spec.inspect}"
      end
      m = spec.strip.match(/\A(<=|>=|~>|<|>|=)?\s*(\S+)\z/)
      unless m
        raise Chef::Exceptions::InvalidVersionConstraint,
          "'#{spec}' is not a valid version constraint: should be OP VERSION. OP can be one of: #{OPS.join(" ")}. " \
          "VERSION is X.Y.Z"
      end
      @op = m[1] || "="
      @raw = m[2]
      unless @raw.match?(/\A\d+(\.\d+)*([.\-+]\w+)*\z/)
        raise Chef::Exceptions::InvalidCookbookVersion, "'#{@raw}' does not match 'x.y.z' or 'x.y'"
      end
      @version = @raw
    end
    def parts(v) = v.to_s.split(/[.\-+]/).map { |x| x.match?(/\A\d+\z/) ? x.to_i : 0 }
    def include?(v)
      v = v.version if v.respond_to?(:version) && !v.is_a?(String)
      a, b = parts(v), parts(@raw)
      n = [a.size, b.size, 3].max
      pa, pb = a + [0] * (n - a.size), b + [0] * (n - b.size)
      c = pa <=> pb
      case @op
      when "="
        @raw.count(".") >= 2 || b.size > 2 ? c == 0 : pa[0, b.size] == b[0, b.size] &&
          (b.size == 1 ? c == 0 || self.class <= Platform : true) && (self.class <= Platform || c == 0)
      when ">" then c > 0
      when "<" then c < 0
      when ">=" then c >= 0
      when "<=" then c <= 0
      when "~>"
        return false if c < 0
        keep = b.size > 1 ? b.size - 1 : 1
        b.size == 1 ? true : pa[0, keep] == pb[0, keep]
      end
    end
    alias satisfied_by? include?
    def to_s = "#{@op} #{@raw}"
    def inspect = "(#{self})"
    def ==(other) = other.is_a?(VersionConstraint) && to_s == other.to_s
    def raw_version = @raw
    class Platform < VersionConstraint; end
  end
end
module Mixlib
  module Versioning
    def self.parse(v) = Gem::Version.new(v.to_s)
  end
end
