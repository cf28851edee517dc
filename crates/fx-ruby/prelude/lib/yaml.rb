module Psych
  VERSION = "4.0.4"
  LIBYAML_VERSION = "0.2.5"
  class Exception < StandardError; end unless const_defined?(:Exception, false)
  class BadAlias < Exception; end
  class AliasesNotEnabled < BadAlias
    def initialize(m = "Alias parsing was not enabled. " \
                       "To enable it, pass `aliases: true` to `Psych::load` or `Psych::safe_load`.")
      super
    end
  end
  class AnchorNotDefined < BadAlias; end
  class DisallowedClass < Exception
    def initialize(action = nil, k = nil) = super("Tried to #{action} unspecified class: #{k}")
  end
  class SyntaxError < Exception; end unless const_defined?(:SyntaxError, false)
  class SyntaxError
    attr_accessor :file, :line, :column, :offset, :problem, :context
  end
  class Loader
    def initialize(opts) = (@o = opts; @anchors = {})
    def docs(text)
      @ev = Psych.__events(text, @o[:filename] || "<unknown>")
      @i = 0
      r = []
      while @i < @ev.size
        if @ev[@i][0] == "doc"
          @i += 1
          r << (@ev[@i][0] == "end_doc" ? nil : node)
          @i += 1 if @ev[@i] && @ev[@i][0] == "end_doc"
        else
          @i += 1
        end
      end
      r
    end
    def keep(id, v) = (@anchors[id] = v if id > 0; v)
    def node
      e = @ev[@i]
      @i += 1
      case e[0]
      when "scalar" then keep(e[3], scalar(e[1], e[2], e[4]))
      when "alias"
        raise AliasesNotEnabled unless @o[:aliases]
        @anchors[e[1]]
      when "seq"
        a = keep(e[1], [])
        a << node until @ev[@i][0] == "end_seq"
        @i += 1
        e[2].to_s.end_with?("set") ? a : a
      when "map"
        h = keep(e[1], {})
        until @ev[@i][0] == "end_map"
          plain = @ev[@i][0] == "scalar" && @ev[@i][2]
          k = node
          v = node
          if k == "<<" && plain && (Hash === v || (Array === v && v.all? { |x| Hash === x }))
            (Array === v ? v.reverse : [v]).each do |x|
              h.merge!(x.reject { |y, _| h.key?(y) && false }) { |_, old, new| Array === v ? new : old }
            end
          else
            k = k.to_sym if @o[:symbolize_names] && String === k
            h[k] = v
          end
        end
        @i += 1
        if e[2].to_s =~ %r{\A!ruby/(object|struct|hash|range|exception)(?::(.*))?\z}
          return keep(e[1], revive($1, $2, h))
        end
        h
      end
    end
    def permit(name)
      @o[:unsafe] || (@o[:permitted] || []).map(&:to_s).include?(name) || raise(DisallowedClass.new("load", name))
    end
    # An object that a tag names, from its parts.
    def revive(kind, name, h)
      if kind == "range"
        permit("Range")
        return Range.new(h["begin"], h["end"], h["excl"])
      end
      name ||= kind == "struct" ? "Struct" : "Object"
      permit(name)
      return Struct.new(*h.keys.map(&:to_sym)).new(*h.values) if name == "Struct"
      klass = Object.const_get(name)
      case kind
      when "hash" then return klass.new.replace(h)
      when "exception" then return klass.allocate.exception(h["message"])
      when "struct" then return klass.allocate.tap { |o| h.each { |k, v| o[k] = v } }
      end
      return Rational(h["numerator"], h["denominator"]) if klass == Rational
      return Complex(h["real"], h["image"]) if klass == Complex
      return klass.new(h["hash"].keys) if klass <= Set && Hash === h["hash"]
      o = klass.allocate
      return o.tap { h.each { |k, v| o.instance_variable_set("@#{k}", v) } } unless o.respond_to?(:init_with)
      o.init_with(Coder.new(name).tap { |c| c.map = h })
      o
    end
    def sym(s)
      unless @o[:unsafe] || @o[:symbols] || (@o[:permitted] || []).include?(Symbol)
        raise DisallowedClass.new("load", "Symbol")
      end
      s.to_sym
    end
    def scalar(s, plain, tag)
      if tag
        t = tag.sub("tag:yaml.org,2002:", "!!")
        case t
        when "!!str", "!str", "!" then return s
        when "!!int" then return s.delete(",_").to_i
        when "!!float" then return Float(s)
        when "!!binary", "!binary" then return s.unpack1("m")
        when "!ruby/symbol", "!ruby/sym" then return sym(s)
        when "!ruby/regexp" then return s =~ %r{\A/(.*)/(\w*)\z}m ? Regexp.new($1, $2) : Regexp.new(s)
        when "!!null" then return nil
        when "!ruby/range"
          permit("Range")
          return s unless s =~ /\A(.*?)(\.\.\.?)(.*)\z/m
          return Range.new(Psych.resolve($1, self), Psych.resolve($3, self), $2 == "...")
        when "!ruby/class", "!ruby/module"
          permit(t == "!ruby/class" ? "Class" : "Module")
          return Object.const_get(s)
        end
      end
      return s unless plain
      Psych.resolve(s, self)
    end
    def date(s, k)
      raise DisallowedClass.new("load", k) unless @o[:unsafe] || (@o[:permitted] || []).map(&:to_s).include?(k)
    end
  end
  # What a scalar without quotes stands for; the loader may refuse symbols and times.
  def self.resolve(s, l = nil)
    kind, text = __plain(s).then { |found| Array === found ? found : (return found) }
    case kind
    when "symbol" then l ? l.sym(text) : text.to_sym
    when "date"
      require "date"
      l&.date(text, "Date")
      Date.valid_date?(*text.split("-").map(&:to_i)) ? Date.new(*text.split("-").map(&:to_i)) : text
    else
      l&.date(text, "Time")
      time(text)
    end
  end
  def self.time(s)
    day, clock = s.split(/[ tT]/, 2)
    clock =~ /(\d+):(\d+):(\d+)(\.\d*)?\s*(Z|[-+].*)?\z/
    hour, minute, zone = $1.to_i, $2.to_i, $5
    second = $3.to_r + ($4 && $4 != "." ? "0#{$4}".to_r : 0)
    negative = day.start_with?("-")
    year, month, mday = day.delete_prefix("-").split("-").map(&:to_i)
    year = -year if negative
    utc = Time.utc(year, month, mday, hour, minute, second)
    return utc if zone == "Z"
    return Time.at(utc.to_r) unless zone
    zone =~ /\A([-+])(\d{1,2}):?(\d\d)?/
    offset = ($2.to_i * 3600 + $3.to_i * 60) * ($1 == "-" ? -1 : 1)
    Time.new(year, month, mday, hour, minute, second, offset)
  rescue ArgumentError
    s
  end
  # What an object's `encode_with` fills, and `init_with` reads.
  class Coder
    attr_accessor :tag, :style, :implicit, :object
    attr_reader :type, :seq
    def initialize(tag) = (@tag, @type, @map, @implicit = tag, :map, {}, false)
    def scalar(*a) = a.empty? ? @scalar : (@tag, @scalar, @type = a[0], a[1], :scalar)
    def map(tag = @tag, *) = (@tag = tag; @type = :map; yield @map if block_given?; @map)
    def scalar=(v)
      @type, @scalar = :scalar, v
    end
    def map=(v)
      @type, @map = :map, v
    end
    def seq=(v)
      @type, @seq = :seq, v
    end
    def [](k) = (@type = :map; @map[k])
    def []=(k, v)
      @type, @map[k] = :map, v
    end
    alias add []=
    def represent_scalar(tag, v) = (@tag = tag; self.scalar = v)
    def represent_seq(tag, v) = (@tag = tag; self.seq = v)
    def represent_map(tag, v) = (@tag = tag; self.map = v)
    def represent_object(tag, v) = (@tag, @type, @object = tag, :object, v)
  end
  # Objects as nodes: [kind, content, anchor, tag, ...]; a second mention becomes an alias.
  class Dumper
    SCALAR, LIST, MAP, ALIAS = 0, 1, 2, 3
    PLAIN, SINGLE, DOUBLE, LITERAL, FOLDED = 0, 1, 2, 3, 4
    def initialize(o)
      @o, @seen, @ids = o, {}.compare_by_identity, {}.compare_by_identity
      @width = o[:line_width]
      if @width && @width < -1
        raise ArgumentError, "Invalid line_width #{@width}, must be non-negative or -1 for unlimited."
      end
      @width = nil if @width == -1
    end
    def dump(*docs) = Psych.__emit(docs.map { |v| @seen.clear; node(v) }, @o[:indentation] || 2, @o[:line_width] || 0)
    def scalar(text, tag = nil, plain = tag.nil?, quoted = false, style = PLAIN)
      [SCALAR, text, nil, tag, plain, quoted, style]
    end
    def register(o, n) = @seen[o] = n
    def list(o, tag, items) = (n = register(o, [LIST, [], nil, tag]); items.each { |v| n[1] << node(v) }; n)
    def map(o, tag)
      n = register(o, [MAP, [], nil, tag])
      yield ->(k, v) { n[1] << (String === k ? scalar(k) : k) << v }
      n
    end
    def pairs(h, n) = h.each { |k, v| n << node(k) << node(v) }
    def named(kind, o) = [kind, o.class == Object ? nil : o.class.name].compact.join(":")
    def node(v)
      if (n = @seen[v])
        n[2] = (@ids[n] ||= @ids.size + 1).to_s
        return [ALIAS, n[2]]
      end
      return coded(v) if v.respond_to?(:encode_with)
      case v
      when String then string(v)
      when Symbol then v.empty? ? scalar("", "!ruby/symbol", false) : scalar(":#{v}")
      when nil then scalar("", "tag:yaml.org,2002:null", true)
      when true, false, Integer then scalar(v.to_s)
      when Float then scalar(v.nan? ? ".nan" : v.infinite? ? (v > 0 ? ".inf" : "-.inf") : v.to_s)
      when Hash then hash(v)
      when Array then v.class == Array ? list(v, nil, v) : list(v, "!ruby/array:#{v.class}", v)
      else other(v)
      end
    end
    def hash(h)
      ivars = h.class == Hash ? [] : h.instance_variables
      if ivars.empty?
        return register(h, [MAP, [], nil, h.class == Hash ? nil : "!ruby/hash:#{h.class}"]).tap { |n| pairs(h, n[1]) }
      end
      map(h, "!ruby/hash-with-ivars:#{h.class}") do |add|
        add.("ivars", [MAP, ivars.flat_map { |iv| [node(iv), node(h.instance_variable_get(iv))] }, nil, nil])
        add.("elements", [MAP, [], nil, nil].tap { |n| pairs(h, n[1]) })
      end
    end
    def other(v)
      case v
      when Range
        map(v, "!ruby/range") do |add|
          { "begin" => v.begin, "end" => v.end, "excl" => v.exclude_end? }.each { |k, x| add.(node(k), node(x)) }
        end
      when Regexp then register(v, scalar(v.inspect, "!ruby/regexp"))
      when Time then register(v, scalar(v.strftime("%Y-%m-%d %H:%M:%S.%9N #{v.utc? ? "Z" : "%:z"}")))
      when Class, Module
        raise TypeError, "can't dump anonymous #{v.class.name.downcase}: #{v}" unless v.name
        register(v, scalar(v.name, "!ruby/#{v.class.name.downcase}", false, false, SINGLE))
      when Rational
        map(v, "!ruby/object:Rational") do |add|
          add.("denominator", scalar(v.denominator.to_s))
          add.("numerator", scalar(v.numerator.to_s))
        end
      when Complex
        map(v, "!ruby/object:Complex") { |add| add.("real", scalar(v.real.to_s)); add.("image", scalar(v.imag.to_s)) }
      when Struct
        map(v, named("!ruby/struct", v)) { |add| v.members.each { |m| add.(m.to_s, node(v[m])) }; ivars(v, add) }
      when ::Exception
        map(v, named("!ruby/exception", v)) do |add|
          add.("message", node(v.message.to_s))
          add.("backtrace", node(v.backtrace))
          ivars(v, add)
        end
      when Encoding then scalar(v.name, "!ruby/encoding")
      when Enumerator then list(v, nil, v)
      when Set
        map(v, "!ruby/object:Set") { |add| add.("hash", [MAP, v.flat_map { |x| [node(x), scalar("true")] }, nil, nil]) }
      else
        case v.class.name
        when "Date" then scalar(v.to_s)
        when "DateTime"
          text = v.strftime("%Y-%m-%d %H:%M:%S.%9N #{v.offset.zero? ? "Z" : "%:z"}")
          register(v, scalar(text, "!ruby/object:DateTime"))
        when "BigDecimal" then scalar(v._dump, "!ruby/object:BigDecimal")
        when "OpenStruct" then map(v, "!ruby/object:OpenStruct") { |add| v.each_pair { |k, x| add.(k.to_s, node(x)) } }
        else map(v, named("!ruby/object", v)) { |add| ivars(v, add) }
        end
      end
    end
    def ivars(v, add)
      v.instance_variables.each { |iv| add.(iv.to_s.delete_prefix("@"), node(v.instance_variable_get(iv))) }
    end
    def coded(v)
      c = Coder.new(named("!ruby/object", v))
      v.encode_with(c)
      case c.type
      when :scalar then scalar(c.scalar.to_s, c.tag)
      when :seq then list(v, c.tag, c.seq)
      when :map then register(v, [MAP, [], nil, c.implicit ? nil : c.tag]).tap { |n| pairs(c.map, n[1]) }
      else node(c.object)
      end
    end
    def string(s)
      tag, style, text = nil, PLAIN, s
      if s.encoding == Encoding::BINARY && !s.ascii_only? || !s.valid_encoding?
        text, tag, style = [s].pack("m0"), "!binary", LITERAL
      elsif s.match?(/\n(?!\Z)/) then style = LITERAL
      elsif s == "<<" then tag, style = "tag:yaml.org,2002:str", SINGLE
      elsif s == "y" || s == "n" then style = DOUBLE
      elsif @width && s.length > @width then style = FOLDED
      elsif s.match?(/^[^[:word:]][^"]*$/) then style = DOUBLE
      elsif !(String === Psych.resolve(s)) || s.match?(/\A0[0-7]*[89]/) then style = SINGLE
      end
      return scalar(text, tag, tag.nil?, tag.nil?, style) if s.class == String
      kept = s.instance_variables
      return scalar(text, "!ruby/string:#{s.class}", false, false, style) if kept.empty?
      map(s, "!ruby/string:#{s.class}") do |add|
        add.("str", scalar(text, tag, tag.nil?, tag.nil?, style))
        ivars(s, add)
      end
    end
  end
  class << self
    def load(y, permitted_classes: [Symbol], permitted_symbols: [], aliases: false, filename: nil, fallback: nil,
             symbolize_names: false, freeze: false, strict_integer: false)
      limits = {
        permitted: permitted_classes, aliases: aliases, symbolize_names: symbolize_names,
        symbols: permitted_classes.include?(Symbol), filename: filename
      }
      __load(y, limits, fallback)
    end
    def safe_load(y, permitted_classes: [], permitted_symbols: [], aliases: false, filename: nil, fallback: nil,
                  symbolize_names: false, freeze: false, strict_integer: false)
      limits = {
        permitted: permitted_classes, aliases: aliases, symbolize_names: symbolize_names,
        symbols: permitted_classes.include?(Symbol) || !permitted_symbols.empty?, filename: filename
      }
      __load(y, limits, fallback)
    end
    def unsafe_load(y, filename: nil, fallback: false, symbolize_names: false, freeze: false, strict_integer: false)
      __load(y, { unsafe: true, aliases: true, symbolize_names: symbolize_names, filename: filename }, fallback)
    end
    def __load(y, o, fallback)
      y = y.read if y.respond_to?(:read)
      d = Loader.new(o).docs(y.to_s)
      d.empty? ? fallback : d[0]
    end
    def load_file(f, **k) = load(File.read(f), filename: f, **k)
    def safe_load_file(f, **k) = safe_load(File.read(f), filename: f, **k)
    def unsafe_load_file(f, **k) = unsafe_load(File.read(f), filename: f, **k)
    def load_stream(y, **k)
      y = y.read if y.respond_to?(:read)
      d = Loader.new(unsafe: true, aliases: true, symbolize_names: k[:symbolize_names]).docs(y)
      block_given? ? d.each { |x| yield x } : d
    end
    def dump(v, io = nil, opts = {}, **k)
      io, opts = nil, io if Hash === io
      s = Dumper.new(opts.merge(k)).dump(v)
      s = "%YAML 1.1\n" + s if opts.merge(k)[:header]
      io ? (io.write(s); io) : s
    end
    def safe_dump(v, io = nil, **k) = dump(v, io)
    def dump_stream(*v) = Dumper.new({}).dump(*v)
    def parse(y) = load(y)
    def libyaml_version = [0, 2, 5]
    def to_json(v) = (require "json"; JSON.generate(v))
  end
end
YAML = Psych if Object.autoload?(:YAML) || !defined?(YAML)
class Object
  def to_yaml(o = {}) = Psych.dump(self, o)
end
