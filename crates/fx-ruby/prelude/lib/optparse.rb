# OptionParser: options as programs of administrators declare them. Completion for shells
# and localised messages are not here.
class OptionParser
  class ParseError < RuntimeError
    Reason = "parse error"
    attr_reader :args
    attr_writer :reason
    def initialize(*args, additional: nil)
      @args = args
      super(args.join(" "))
    end
    def reason = @reason || self.class::Reason
    def message = "#{reason}: #{@args.join(" ")}"
    alias to_s message
    def inspect = "#<#{self.class}: #{@args.join(" ")}>"
    def recover(argv)
      argv[0, 0] = @args
      argv
    end
    def self.filter_backtrace(lines) = lines
  end
  class AmbiguousOption < ParseError; Reason = "ambiguous option"; end
  class NeedlessArgument < ParseError; Reason = "needless argument"; end
  class MissingArgument < ParseError; Reason = "missing argument"; end
  class InvalidOption < ParseError; Reason = "invalid option"; end
  class InvalidArgument < ParseError; Reason = "invalid argument"; end
  class AmbiguousArgument < InvalidArgument; Reason = "ambiguous argument"; end

  DecimalInteger = Integer
  DecimalNumeric = Numeric
  OctalInteger = Integer

  # One declared option.
  class Switch
    attr_reader :short, :long, :arg, :optional, :negatable, :type, :desc, :block, :values
    def initialize(args, block)
      @short, @long, @desc, @block = [], [], [], block
      args.each { |arg| take(arg) }
    end

    def key = (@long.first || @short.first).to_s

    def takes? = !@arg.nil?

    def convert(text, spelled)
      # A switch that has a `no` form and was given nothing says yes.
      return true if text.nil? && @negatable && !@type && !@values && @optional&.include?("=")
      return text if text.nil? && !@values
      if @values
        pairs = @values.is_a?(Hash) ? @values : @values.to_h { |v| [v.to_s, v] }
        return pairs.transform_keys(&:to_s)[text] if pairs.transform_keys(&:to_s).key?(text)
        found = pairs.select { |name, _| name.to_s.start_with?(text.to_s) }
        raise InvalidArgument.new(spelled, text) if found.empty?
        raise AmbiguousArgument.new(spelled, text) if found.size > 1
        return found.values.first
      end
      case @type
      when nil then text
      when :string_ then text
      when :integer_ then Integer(text)
      when :float_ then Float(text)
      when :numeric_ then text =~ /[.e\/]/i ? (text.include?("/") ? Rational(text) : Float(text)) : Integer(text)
      when :array_ then text.split(",")
      when :symbol_ then text.to_sym
      when :flag_
        {
          "yes" => true, "true" => true, "+" => true, "no" => false, "false" => false, "-" => false, "nil" => false
        }.fetch(text)
      when Regexp then text =~ @type ? text : raise(ArgumentError)
      else @type.respond_to?(:parse) ? @type.parse(text) : text
      end
    rescue ArgumentError, KeyError => e
      raise e if e.is_a?(ParseError)
      raise InvalidArgument.new(spelled, text)
    end

    def summary(width, indent)
      shorts = @short.map { |s| "-#{s}" }
      longs = @long.map { |l| @negatable ? "--[no-]#{l}" : "--#{l}" }
      left = (shorts.empty? && !longs.empty? ? ["    " + longs.shift] + longs : shorts + longs).join(", ")
      if @arg
        left += if !@long.empty? then @optional || @joined.to_s + @arg.to_s
                elsif @optional then " [#{@arg}]"
                else " #{@arg}"
                end
      end
      lines = @desc.empty? ? [""] : @desc
      first = lines.first.to_s
      out = []
      if left.size > width
        out << indent + left
        out << indent + " " * (width + 1) + first unless first.empty?
      else
        out << (indent + (first.empty? ? left : left.ljust(width + 1) + first))
      end
      lines.drop(1).each { |line| out << indent + " " * (width + 1) + line }
      out
    end

    private

    def take(arg)
      case arg
      when /\A--\[no-\]([^\s=\[]+)(.*)\z/
        @negatable = true
        @long << $1
        argument($2)
      when /\A--([^\s=\[]+)(.*)\z/
        @long << $1
        argument($2)
      when /\A-(\w|\?)(.*)\z/
        @short << $1
        argument($2, short: true)
      when String then @desc << arg
      when :REQUIRED then @arg ||= "VALUE"
      when :OPTIONAL then @arg, @optional = "VALUE", "[=VALUE]"
      when :NONE then @arg = nil
      when Array, Hash then @values = arg
      when Regexp then @type = arg
      when Proc, Method then @block = arg
      else
        names = {
          String => :string_, Integer => :integer_, Float => :float_, Numeric => :numeric_, Array => :array_,
          Symbol => :symbol_, TrueClass => :flag_, FalseClass => :flag_, Object => nil, NilClass => nil
        }
        @type = names.key?(arg) ? names[arg] : arg
      end
    end

    def argument(text, short: false)
      return if text.nil? || text.empty?
      if text =~ /\A\s*=?\[=?(.*)\]\z/
        @arg, @optional = $1, text
      else
        @joined = text[/\A[\s=]/] unless short
        @arg = text.sub(/\A[\s=]/, "")
      end
    end
  end

  attr_accessor :summary_width, :summary_indent, :version, :release, :require_exact, :raise_unknown
  attr_writer :banner, :program_name, :default_argv

  def initialize(banner = nil, width = 32, indent = " " * 4)
    @banner, @summary_width, @summary_indent = banner, width, indent
    @items = []
    @tail = []
    @default_argv = ARGV
    @raise_unknown = true
    yield self if block_given?
  end

  def program_name = @program_name || File.basename($0, ".*")
  def banner = @banner || "Usage: #{program_name} [options]"
  def default_argv = @default_argv

  def separator(text = "")
    @items << text
    self
  end

  def define(*args, &block) = declare(@items, args, block)
  alias def_option define
  def on(*args, &block)
    define(*args, &block)
    self
  end

  def on_head(*args, &block)
    declare(list = [], args, block)
    @items.unshift(*list)
    self
  end

  def on_tail(*args, &block)
    declare(@tail, args, block)
    self
  end

  def declare(list, args, block)
    switch = Switch.new(args, block)
    list << switch
    switch
  end
  private :declare

  def accept(type, pattern = nil, &block) = (@accepted ||= {})[type] = [pattern, block]

  def help
    lines = [banner]
    (@items + @tail).each do |item|
      item.is_a?(Switch) ? lines.concat(item.summary(@summary_width, @summary_indent)) : lines << item.to_s
    end
    lines.join("\n") + "\n"
  end
  alias to_s help
  def summarize(to = [])
    lines = (@items + @tail).flat_map { |i| i.is_a?(Switch) ? i.summary(@summary_width, @summary_indent) : [i] }
    to.concat(lines.map { |l| l + "\n" })
  end
  def to_a = help.lines
  def ver = @version && "#{program_name} #{Array(@version).join(".")}"
  def abort(message = $!) = super("#{program_name}: #{message}")
  def warn(message = $!) = super("#{program_name}: #{message}")

  def parse!(argv = default_argv, into: nil) = walk(argv, into, permute: !ENV["POSIXLY_CORRECT"])
  def permute!(argv = default_argv, into: nil) = walk(argv, into, permute: true)
  def order!(argv = default_argv, into: nil, &block) = walk(argv, into, permute: false, &block)
  def parse(*argv, into: nil) = parse!(argv.flatten, into: into)
  def permute(*argv, into: nil) = permute!(argv.flatten, into: into)
  def order(*argv, into: nil, &block) = order!(argv.flatten, into: into, &block)

  def getopts(*args)
    argv = args.first.is_a?(Array) ? args.shift : default_argv
    result = {}
    short, *longs = args
    short.to_s.scan(/(\w)(:?)(\S*?)(?=\w|\z)/) do |name, takes, _|
      result[name] = takes.empty? ? false : nil
      takes.empty? ? on("-#{name}") { result[name] = true } : on("-#{name} VALUE") { |v| result[name] = v }
    end
    longs.each do |long|
      name, default = long.split(":", 2)
      result[name] = default.nil? ? false : (default.empty? ? nil : default)
      default.nil? ? on("--#{name}") { result[name] = true } : on("--#{name} VALUE") { |v| result[name] = v }
    end
    parse!(argv)
    result
  end

  private

  def switches = (@items + @tail).grep(Switch)

  def walk(argv, into, permute:)
    kept = []
    until argv.empty?
      arg = argv.shift
      case arg
      when "--"
        break
      when /\A--([^=]*)(?:=(.*))?\z/m
        long($1, $2, arg, argv, into)
      when /\A-(.)(.*)\z/m
        short($1, $2, argv, into)
      else
        if permute
          kept << arg
        elsif block_given?
          yield arg
        else
          argv.unshift(arg)
          break
        end
      end
    end
    argv.unshift(*kept)
    argv
  end

  def long(name, value, spelled, argv, into)
    plain = name.sub(/\Ano-/, "")
    exact = switches.select { |s| s.long.include?(name) || (s.negatable && name != plain && s.long.include?(plain)) }
    found = exact
    if exact.empty?
      found = switches.select do |s|
        s.long.any? { |l| l.start_with?(name) || (s.negatable && "no-#{l}".start_with?(name)) }
      end
    end
    if found.empty?
      return finish(:help, nil) if name == "help"
      return finish(:version, nil) if name == "version" && @version
      raise InvalidOption.new("--#{name}")
    end
    raise AmbiguousOption.new("--#{name}") if found.size > 1 && exact.empty?
    switch = found.last
    negated = switch.negatable && name.start_with?("no-") && !switch.long.include?(name)
    spelled = "--#{name}"
    if switch.takes? && !negated
      if value.nil? && !switch.optional
        raise MissingArgument.new(spelled) if argv.empty?
        value = argv.shift
      elsif value.nil? && switch.optional && !switch.optional.include?("=") && !argv.empty? && argv.first !~ /\A-./
        value = argv.shift
      end
      give(switch, switch.convert(value, spelled), into)
    else
      raise NeedlessArgument.new("#{spelled}=#{value}") if value
      give(switch, !negated, into)
    end
  end

  def short(letter, rest, argv, into)
    switch = switches.reverse.find { |s| s.short.include?(letter) } || switches.find do |s|
      s.long.any? { |l| l.start_with?(letter) }
    end
    unless switch
      return finish(:help, nil) if letter == "h"
      return finish(:version, nil) if letter == "v" && @version
      raise InvalidOption.new("-#{letter}")
    end
    if switch.takes?
      value = rest.empty? ? nil : rest.sub(/\A=/, "")
      if value.nil? && !switch.optional
        raise MissingArgument.new("-#{letter}") if argv.empty?
        value = argv.shift
      elsif value.nil? && !switch.optional.include?("=") && !argv.empty? && argv.first !~ /\A-./
        value = argv.shift
      end
      give(switch, switch.convert(value, "-#{letter}"), into)
    else
      give(switch, true, into)
      short(rest[0], rest[1..], argv, into) unless rest.empty?
    end
  end

  def give(switch, value, into)
    into[switch.key.to_sym] = value if into
    switch.block&.call(value)
  end

  def finish(what, _)
    puts(what == :help ? help : ver)
    exit
  end
end

OptParse = OptionParser
