module Psych
  VERSION = "4.0.4"
  LIBYAML_VERSION = "0.2.5"
  class Exception < StandardError; end unless const_defined?(:Exception, false)
  class BadAlias < Exception; end
  class AliasesNotEnabled < BadAlias
    def initialize(m = "Alias parsing was not enabled. To enable it, pass `aliases: true` to `Psych::load` or `Psych::safe_load`.") = super
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
      @ev = Psych.__events(text)
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
            (Array === v ? v.reverse : [v]).each { |x| h.merge!(x.reject { |y, _| h.key?(y) && false }) { |_, old, new| Array === v ? new : old } }
          else
            k = k.to_sym if @o[:symbolize_names] && String === k
            h[k] = v
          end
        end
        @i += 1
        if e[2].to_s =~ /!ruby\/object:(.*)/
          name = $1
          raise DisallowedClass.new("load", name) unless @o[:unsafe] || (@o[:permitted] || []).map(&:to_s).include?(name)
          o = Object.const_get(name).allocate
          h.each { |k, v| o.instance_variable_set("@#{k}", v) }
          return keep(e[1], o)
        end
        h
      end
    end
    def sym(s) = (raise DisallowedClass.new("load", "Symbol") unless @o[:unsafe] || @o[:symbols] || (@o[:permitted] || []).include?(Symbol); s.to_sym)
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
        end
      end
      return s unless plain
      Psych.resolve(s, self)
    end
    def date(s, k) = (raise DisallowedClass.new("load", k) unless @o[:unsafe] || (@o[:permitted] || []).map(&:to_s).include?(k))
  end
  def self.resolve(s, l = nil)
    case s
    when "", "~", "null", "Null", "NULL" then nil
    when /\A(yes|true|on)\z/i then true
    when /\A(no|false|off)\z/i then false
    when /\A[-+]?0[0-7_,]+\z/ then s.delete("_,").to_i(8)
    when /\A[-+]?(0|[1-9][0-9_,]*)\z/ then s.delete("_,").to_i
    when /\A[-+]?0b[01_]+\z/ then s.delete("_").to_i(2)
    when /\A[-+]?0x[0-9a-fA-F_]+\z/ then s.delete("_").to_i(16)
    when /\A[-+]?\d[0-9_]*(:[0-5]?\d)+\z/
      neg = s.start_with?("-")
      v = s.delete("_+-").split(":").inject(0) { |a, x| a * 60 + x.to_i }
      neg ? -v : v
    when /\A[-+]?(?:\d[\d_,]*)?\.\d[\d_]*(?:[eE][-+]?\d+)?\z/, /\A[-+]?\d[\d_,]*(?:\.\d*)(?:[eE][-+]?\d+)?\z/
      s.match?(/\d/) ? s.delete("_,").sub(/\A([-+]?)\./, '\10.').to_f : s
    when /\A[-+]?\d[\d_]*(?:[eE][-+]\d+)\z/ then s.to_f
    when /\A\.inf\z/i, /\A\+\.inf\z/i then Float::INFINITY
    when /\A-\.inf\z/i then -Float::INFINITY
    when /\A\.nan\z/i then Float::NAN
    when /\A:"(.*)"\z/m, /\A:'(.*)'\z/m then l ? l.sym($1) : $1.to_sym
    when /\A:[^:\s].*/m then l ? l.sym(s[1..]) : s[1..].to_sym
    when /\A\d{4}-\d{1,2}-\d{1,2}\z/
      begin
        require "date"
        d = Date.new(*s.split("-").map(&:to_i))
        l&.date(s, "Date")
        d
      rescue ArgumentError, NameError
        s
      end
    when /\A\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?\z/
      l&.date(s, "Time")
      d, t = s.split(/[ tT]/, 2)
      t =~ /\A(\d+):(\d+):(\d+)(\.\d*)?\s*(Z|[-+].*)?\z/
      off = $5
      sec = $3.to_r + ($4 && $4 != "." ? "0#{$4}".to_r : 0)
      y, m, dd = d.split("-").map(&:to_i)
      h, mi = $1.to_i, $2.to_i
      if off.nil? || off == "Z" then off ? Time.utc(y, m, dd, h, mi, sec) : Time.utc(y, m, dd, h, mi, sec)
      else
        o = off.include?(":") ? off : (off.size > 3 ? off[0, 3] + ":" + off[3..] : off + ":00")
        o = o.sub(/\A([-+])(\d):/, '\10\2:')
        Time.new(y, m, dd, h, mi, sec, o)
      end
    else s
    end
  end
  class Dumper
    def initialize(o) = (@o = o; @seen = {}.compare_by_identity; @n = 0)
    def dump(v)
      count(v, {}.compare_by_identity)
      "---" + node(v, 0, true) 
    end
    def count(v, s)
      return unless Hash === v || Array === v || (String === v && false)
      if s[v] then @multi ||= {}.compare_by_identity; @multi[v] = true; return end
      s[v] = true
      Hash === v ? v.each { |k, x| count(k, s); count(x, s) } : v.each { |x| count(x, s) }
    end
    def anchor(v)
      return nil unless @multi && @multi[v]
      return [:alias, @seen[v]] if @seen[v]
      [:anchor, @seen[v] = (@n += 1)]
    end
    def node(v, ind, top = false, in_seq = false)
      a = anchor(v)
      return " *#{a[1]}\n" if a && a[0] == :alias
      pre = a ? " &#{a[1]}" : ""
      case v
      when Hash
        return "#{pre} {}\n" if v.empty?
        out = +"#{pre}\n"
        v.each { |k, x| out << "#{" " * ind}#{key(k)}:#{child(x, ind)}" }
        out
      when Array
        return "#{pre} []\n" if v.empty?
        out = +"#{pre}\n"
        v.each { |x| out << "#{" " * ind}-#{item(x, ind)}" }
        out
      when String then string(v, ind, top)
      when Set then " !ruby/object:Set\nhash:\n" + v.map { |x| "  #{key(x)}: true\n" }.join
      when nil then top ? "\n" : "\n"
      when true, false, Integer then " #{v}\n"
      when Float then " #{v.nan? ? ".nan" : v.infinite? ? (v > 0 ? ".inf" : "-.inf") : v}\n"
      when Symbol then " #{symbol(v)}\n"
      when Range then " !ruby/range\n#{" " * ind}begin: #{v.begin}\n#{" " * ind}end: #{v.end}\n#{" " * ind}excl: #{v.exclude_end?}\n"
      when Regexp then " !ruby/regexp #{v.inspect}\n"
      when Time then " #{v.utc? ? v.strftime("%Y-%m-%d %H:%M:%S.%9N Z") : v.strftime("%Y-%m-%d %H:%M:%S.%9N %:z")}\n"
      when Struct
        out = +" !ruby/struct:#{v.class}\n"
        v.each_pair { |k, x| out << "#{" " * ind}#{k}:#{child(x, ind)}" }
        out
      else
        return " #{v}\n" if v.class.name == "Date"
        ivs = v.instance_variables
        out = +" !ruby/object:#{v.class}#{ivs.empty? ? " {}" : ""}\n"
        ivs.each { |iv| out << "#{" " * ind}#{iv.to_s[1..]}:#{child(v.instance_variable_get(iv), ind)}" }
        out
      end
    end
    def child(v, ind) = Array === v ? node(v, ind) : node(v, ind + 2)
    def item(v, ind)
      if (Hash === v || Array === v) && !v.empty? && !(@multi && @multi[v])
        body = node(v, ind + 2)
        " " + body.sub(/\A\n#{" " * (ind + 2)}/, "")
      else
        node(v, ind + 2)
      end
    end
    def key(k)
      case k
      when String then string(k, 0, false).strip
      when Symbol then symbol(k)
      when nil then "!!null ''"
      else node(k, 0).strip
      end
    end
    def symbol(s)
      t = s.to_s
      return ":#{t}" if t.match?(/\A[A-Za-z_][\w?!\-\/.]*[?!=]?\z/) && !%w[true false null yes no on off y n].include?(t) || t.match?(/\A[\w.\/-]+\z/) && !(String === Psych.resolve(t)).!
      ":#{string(t, 0, false).strip}"
    end
    def string(s, ind, top)
      if s.encoding == Encoding::BINARY && !s.ascii_only? || !s.valid_encoding?
        return " !binary |-\n" + [s].pack("m").lines.map { |l| " " * [ind, 2].max + l }.join
      end
      return " ''\n" if s.empty?
      if s.match?(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/) || (s.include?("\n") && s.match?(/\A[ \n]*\z/)) && !s.match?(/\A\n+\z/).!.!.nil? && s.match?(/\A\s*\n\s*\z/)
        return " #{s.dump.gsub(/\\u\{?(\h+)\}?/) { [$1.hex].pack("U") }.gsub('\\#', "#").gsub("\\x", "\\x")}\n"
      end
      if s.include?("\n")
        chomp = s.end_with?("\n\n") || s == "\n" ? "+" : s.end_with?("\n") ? "" : "-"
        hint = s.start_with?(" ", "\n") ? "2" : ""
        i = " " * [ind, 2].max
        i = "  " if top
        return " |#{hint}#{chomp}\n" + s.lines.map { |l| l == "\n" ? l : i + l }.join + (s.end_with?("\n") ? "" : "\n")
      end
      return " !!str '<<'\n" if s == "<<"
      if s == "y" || s == "n" || s.include?("\t") || s =~ /^[^[:word:]][^"]*$/
        return " \"#{s.gsub(/["\\]/) { "\\#{$&}" }.gsub("\t", '\\t')}\"\n"
      end
      return " #{s}\n" if plain?(s)
      " '#{s.gsub("'", "''")}'\n"
    end
    def plain?(s)
      return false if s =~ /\A[\s]|[\s]\z/
      return false if s =~ /\A[-?:](\s|\z)/ || s =~ /\A[!&*%@`'"#|>{}\[\],]/ || s =~ /: |:\z| #/ || s == "=" || s == "<<" || s =~ /\A(---|\.\.\.)/
      return false if s =~ /\A0[0-9_,]*\z/ || s =~ /\A[-+]?[0-9][0-9_,]*\z/
      r = begin
        Psych.resolve(s)
      rescue ::StandardError
        nil
      end
      String === r
    end
  end
  class << self
    def load(y, permitted_classes: [Symbol], permitted_symbols: [], aliases: false, filename: nil, fallback: nil, symbolize_names: false, freeze: false, strict_integer: false)
      __load(y, { permitted: permitted_classes, aliases: aliases, symbolize_names: symbolize_names, symbols: permitted_classes.include?(Symbol) }, fallback)
    end
    def safe_load(y, permitted_classes: [], permitted_symbols: [], aliases: false, filename: nil, fallback: nil, symbolize_names: false, freeze: false, strict_integer: false)
      __load(y, { permitted: permitted_classes, aliases: aliases, symbolize_names: symbolize_names, symbols: permitted_classes.include?(Symbol) || !permitted_symbols.empty? }, fallback)
    end
    def unsafe_load(y, filename: nil, fallback: false, symbolize_names: false, freeze: false, strict_integer: false) = __load(y, { unsafe: true, aliases: true, symbolize_names: symbolize_names }, fallback)
    def __load(y, o, fallback)
      y = y.read if y.respond_to?(:read)
      d = Loader.new(o).docs(y.to_s)
      d.empty? ? fallback : d[0]
    end
    def load_file(f, **k) = load(File.read(f), **k)
    def safe_load_file(f, **k) = safe_load(File.read(f), **k)
    def unsafe_load_file(f, **k) = unsafe_load(File.read(f), **k)
    def load_stream(y, **k)
      y = y.read if y.respond_to?(:read)
      d = Loader.new(unsafe: true, aliases: true, symbolize_names: k[:symbolize_names]).docs(y)
      block_given? ? d.each { |x| yield x } : d
    end
    def dump(v, io = nil, opts = {}, **k)
      io, opts = nil, io if Hash === io
      s = Dumper.new(opts).dump(v)
      s = s.sub(/\A---\n\z/, "---\n")
      io ? (io.write(s); io) : s
    end
    def safe_dump(v, io = nil, **k) = dump(v, io)
    def dump_stream(*v) = v.map { |x| dump(x) }.join
    def parse(y) = load(y)
    def libyaml_version = [0, 2, 5]
    def to_json(v) = (require "json"; JSON.generate(v))
  end
end
YAML = Psych if Object.autoload?(:YAML) || !defined?(YAML)
class Object
  def to_yaml(o = {}) = Psych.dump(self)
end
