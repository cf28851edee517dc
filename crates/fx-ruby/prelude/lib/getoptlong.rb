# Options of a command line, one by one, as GNU's getopt_long takes them.
class GetoptLong
  VERSION = "0.1.1"
  class Error < StandardError; end
  class AmbiguousOption < Error; end
  class NeedlessArgument < Error; end
  class MissingArgument < Error; end
  class InvalidOption < Error; end
  ORDERINGS = [REQUIRE_ORDER = 0, PERMUTE = 1, RETURN_IN_ORDER = 2].freeze
  ARGUMENT_FLAGS = [NO_ARGUMENT = 0, REQUIRED_ARGUMENT = 1, OPTIONAL_ARGUMENT = 2].freeze
  attr_reader :ordering, :error, :error_message
  alias error? error
  attr_accessor :quiet
  alias quiet? quiet

  def initialize(*options)
    @ordering = ENV.include?("POSIXLY_CORRECT") ? REQUIRE_ORDER : PERMUTE
    @quiet, @ended, @rest, @bundle = false, false, [], ""
    set_options(*options)
  end

  def ordering=(order)
    raise ArgumentError, "invalid ordering" unless ORDERINGS.include?(order)
    @ordering = order
  end

  def set_options(*options)
    @names, @flags = {}, {}
    options.each do |option|
      raise ArgumentError, "the option list contains non-Array argument" unless Array === option
      flag = option.find { |part| Integer === part } or raise ArgumentError, "no argument-flag"
      names = option.grep(String)
      names.each do |name|
        raise ArgumentError, "an invalid option `#{name}'" unless name =~ /\A-[^-]\z/ || name =~ /\A--[^-]/
        raise ArgumentError, "option redefined `#{name}'" if @names.key?(name)
        @names[name] = names[0]
        @flags[name] = flag
      end
    end
    self
  end

  def terminate
    return nil if @ended
    @ended = true
    ARGV.unshift(*@rest)
    @rest = []
    self
  end
  def terminated? = @ended

  def get
    return nil if @ended
    return short(@bundle) unless @bundle.empty?
    word = nextword or return (terminate; nil)
    case word
    when /\A(--[^=]+)(?:=(.*))?\z/m then long($1, $2)
    when /\A-(.+)/m then short($1)
    else @ordering == RETURN_IN_ORDER ? ["", word] : (terminate; nil)
    end
  end
  alias get_option get

  def each
    while (option = get)
      yield(*option)
    end
  end
  alias each_option each

  private

  def nextword
    until ARGV.empty?
      word = ARGV.shift
      return nil if word == "--"
      return word if word.start_with?("-") && word != "-" || @ordering == RETURN_IN_ORDER
      if @ordering == REQUIRE_ORDER
        ARGV.unshift(word)
        return nil
      end
      @rest << word
    end
    nil
  end

  def set_error(kind, message)
    @error, @error_message = kind, message
    $stderr.puts("#{$0}: #{message}") unless @quiet
    raise kind, message
  end

  def long(name, value)
    unless @names.key?(name)
      close = @names.keys.select { |known| known.start_with?(name) }
      if close.map { |known| @names[known] }.uniq.size > 1
        set_error(AmbiguousOption, "option `#{name}' is ambiguous between #{close.join(", ")}")
      end
      set_error(InvalidOption, "unrecognized option `#{name}'") if close.empty?
      name = close[0]
    end
    case @flags[name]
    when NO_ARGUMENT then set_error(NeedlessArgument, "option `#{name}' doesn't allow an argument") if value
    when REQUIRED_ARGUMENT
      value ||= ARGV.shift or set_error(MissingArgument, "option `#{name}' requires an argument")
    else value ||= ARGV.shift if ARGV[0] && !ARGV[0].start_with?("-")
    end
    [@names[name], value || ""]
  end

  def short(letters)
    name, @bundle = "-#{letters[0]}", letters[1..]
    set_error(InvalidOption, "invalid option -- #{letters[0]}") unless @names.key?(name)
    value = ""
    if @flags[name] != NO_ARGUMENT
      value, @bundle = @bundle, ""
      if value.empty?
        if @flags[name] == REQUIRED_ARGUMENT
          value = ARGV.shift or set_error(MissingArgument, "option requires an argument -- #{letters[0]}")
        elsif ARGV[0] && !ARGV[0].start_with?("-")
          value = ARGV.shift
        end
      end
    end
    [@names[name], value]
  end
end
