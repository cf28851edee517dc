# Objects as bytes, in the format of version 4.8.
module Marshal
  MAJOR_VERSION = 4
  MINOR_VERSION = 8

  def self.dump(object, to = nil, limit = -1)
    to, limit = nil, to if Integer === to
    raise TypeError, "instance of IO needed" unless to.nil? || to.respond_to?(:write)
    bytes = Writer.new.whole(object, limit)
    return bytes unless to
    to.binmode if to.respond_to?(:binmode)
    to.write(bytes)
    to
  end

  def self.load(source, filter = nil, freeze: false)
    source = source.to_str if !(String === source) && source.respond_to?(:to_str)
    unless String === source || (source.respond_to?(:getbyte) && source.respond_to?(:read))
      raise TypeError, "instance of IO needed"
    end
    Reader.new(source, filter, freeze).whole
  end
  class << self
    alias restore load
  end

  class Writer
    def initialize
      @out = "\x04\b".b
      @symbols = {}
      @objects = {}.compare_by_identity
    end

    def whole(object, limit)
      write(object, limit)
      @out
    end

    private

    def write(object, limit)
      raise ArgumentError, "exceed depth limit" if limit == 0
      limit -= 1
      case object
      when nil then @out << "0"
      when true then @out << "T"
      when false then @out << "F"
      when Integer then integer(object)
      when Symbol then symbol(object)
      else
        if (at = @objects[object])
          @out << "@"
          long(at)
        else
          other(object, limit)
        end
      end
    end

    def add(object) = @objects[object] = @objects.size

    def integer(number)
      if number >= -(1 << 30) && number < 1 << 30
        @out << "i"
        return long(number)
      end
      return @out << "@" << packed(@objects[number]) if @objects[number]
      add(number)
      @out << "l" << (number < 0 ? "-" : "+")
      digits = number.abs.digits(65536)
      long(digits.size)
      @out << digits.pack("v*")
    end

    def long(number) = @out << packed(number)

    def packed(number)
      return "\0".b if number == 0
      return [number + 5].pack("c") if number.between?(1, 122)
      return [number - 5].pack("c") if number.between?(-123, -1)
      bytes = []
      rest = number
      until rest == 0 || rest == -1
        bytes << (rest & 255)
        rest >>= 8
      end
      [number < 0 ? -bytes.size : bytes.size, *bytes].pack("cC*")
    end

    def bytes(text)
      long(text.bytesize)
      @out << text.b
    end

    def symbol(name)
      if (at = @symbols[name])
        @out << ";"
        return long(at)
      end
      text = name.name
      extra = encoding_of(text) unless text.ascii_only?
      @out << "I" if extra
      @out << ":"
      bytes(text)
      @symbols[name] = @symbols.size
      return unless extra
      long(1)
      pair(*extra, -1)
    end

    def pair(name, value, limit)
      symbol(name)
      write(value, limit)
    end

    def encoding_of(text)
      case text.encoding
      when Encoding::BINARY then nil
      when Encoding::US_ASCII then [:E, false]
      when Encoding::UTF_8 then [:E, true]
      else [:encoding, text.encoding.name.b]
      end
    end

    def other(object, limit)
      if Rational === object || Complex === object
        add(object)
        class_name("U", object, false)
        return write(Rational === object ? [object.numerator, object.denominator] : object.rect, limit)
      end
      if object.respond_to?(:marshal_dump, true)
        add(object)
        value = object.__send__(:marshal_dump)
        class_name("U", object, false)
        return write(value, limit)
      end
      return user_bytes(object, limit) if object.respond_to?(:_dump, true)
      add(object)
      plain(object, limit)
    end

    def user_bytes(object, limit)
      text = object.__send__(:_dump, limit)
      raise TypeError, "_dump() must return string" unless String === text
      extra = extras(text)
      extra.concat(object.__send__(:__marshal_extras)) if Time === object
      @out << "I" unless extra.empty?
      class_name("u", object, false)
      bytes(text)
      pairs(extra, limit) unless extra.empty?
      add(object)
    end

    def extras(object)
      list = object.instance_variables.map { |name| [name, object.instance_variable_get(name)] }
      encoding = encoding_of(Regexp === object ? object.source : object) if String === object || Regexp === object
      encoding = [:E, false] if Regexp === object && object.source.ascii_only? && !object.fixed_encoding?
      encoding ? [encoding, *list] : list
    end

    def pairs(list, limit)
      long(list.size)
      list.each { |name, value| pair(name, value, limit) }
    end

    def plain(object, limit)
      case object
      when Module then return named(object)
      when Float then return @out << "f" << packed((text = float(object)).bytesize) << text
      when Range then return record(object, { excl: object.exclude_end?, begin: object.begin, end: object.end }, limit)
      when Exception then return record(object, { mesg: message(object), bt: object.backtrace }, limit)
      when Set then return record(object, nil, limit) { symbol(:@hash); set(object, limit) }
      when Proc, Method, UnboundMethod, Binding, Enumerator, MatchData, Thread, Thread::Mutex, Random
        raise TypeError, "no _dump_data is defined for class #{object.class}"
      when IO, Dir then raise TypeError, "can't dump #{object.class}"
      end
      held = String === object || Regexp === object || Array === object || Hash === object || Struct === object
      return record(object, {}, limit) unless held
      extra = extras(object)
      @out << "I" unless extra.empty?
      content(object, limit)
      pairs(extra, limit) unless extra.empty?
    end

    def message(error)
      text = Exception.instance_method(:message).bind_call(error)
      text == error.class.name ? nil : text
    end

    def content(object, limit)
      case object
      when String
        own_class(object, String)
        @out << '"'
        bytes(object)
      when Regexp
        own_class(object, Regexp)
        @out << "/"
        bytes(object.source)
        @out << (object.options & 7).chr
      when Array
        own_class(object, Array)
        @out << "["
        long(object.size)
        object.each { |item| write(item, limit) }
      when Hash then hash(object, limit)
      when Struct
        class_name("S", object, true)
        long(object.size)
        object.each_pair { |name, value| pair(name, value, limit) }
      end
    end

    def hash(object, limit)
      raise TypeError, "can't dump hash with default proc" if object.default_proc
      own_class(object, Hash)
      @out << "C" << ":" << packed(4) << "Hash" if object.compare_by_identity?
      @out << (object.default.nil? ? "{" : "}")
      long(object.size)
      object.each_pair do |key, value|
        write(key, limit)
        write(value, limit)
      end
      write(object.default, limit) unless object.default.nil?
    end

    def set(object, limit)
      @objects[Object.new] = @objects.size
      @out << "}"
      long(object.size)
      object.each do |item|
        write(item, limit)
        @out << "T"
      end
      @out << "F"
    end

    # An object of its class and what it holds.
    def record(object, fields, limit)
      class_name("o", object, true)
      return long(1) && yield if fields.nil?
      object.instance_variables.each { |name| fields[name] = object.instance_variable_get(name) }
      pairs(fields.to_a, limit)
    end

    def name_of(kind)
      name = Module.instance_method(:name).bind_call(kind)
      raise TypeError, "can't dump anonymous #{Class === kind ? "class" : "module"} #{kind.inspect}" unless name
      name
    end

    def named(kind)
      raise TypeError, "singleton class can't be dumped" if Class === kind && kind.singleton_class?
      name = name_of(kind)
      @out << (Class === kind ? "c" : "m")
      bytes(name)
    end

    def own_class(object, base)
      single(object)
      return if object.class == base
      @out << "C"
      symbol(name_of(object.class).to_sym)
    end

    def class_name(mark, object, check)
      single(object) if check
      @out << mark
      symbol(name_of(object.class).to_sym)
    end

    def single(object)
      return if object.frozen? && (String === object || Symbol === object)
      raise TypeError, "singleton can't be dumped" unless object.singleton_methods(false).empty?
      __extensions(object).each do |m|
        @out << "e"
        symbol(name_of(m).to_sym)
      end
    end

    def float(number)
      return "nan" if number.nan?
      return number < 0 ? "-inf" : "inf" if number.infinite?
      return 1 / number < 0 ? "-0" : "0" if number == 0
      sign = number < 0 ? "-" : ""
      mantissa, exponent = number.abs.to_s.split("e")
      whole, part = mantissa.split(".")
      point = whole.size + exponent.to_i
      digits = (whole + part).sub(/\A0+/) { |zeros| point -= zeros.size; "" }.sub(/0+\z/, "")
      text =
        if point < -3 || point > digits.size
          "#{digits[0]}#{"." if digits.size > 1}#{digits[1..]}e#{point - 1}"
        elsif point > 0
          "#{digits[0, point]}#{"." if digits.size > point}#{digits[point..]}"
        else
          "0.#{"0" * -point}#{digits}"
        end
      sign + text
    end
  end
  private_constant :Writer

  class Reader
    def initialize(source, filter, freeze)
      @source, @at = source, 0
      @io = !(String === source)
      @filter, @freeze = filter, freeze
      @symbols, @objects = [], []
    end

    def whole
      major, minor = byte, byte
      unless major == MAJOR_VERSION && minor <= MINOR_VERSION
        raise TypeError, "incompatible marshal file format (can't be read)\n" \
          "\tformat version #{MAJOR_VERSION}.#{MINOR_VERSION} required; #{major}.#{minor} given"
      end
      read
    end

    private

    def short = raise(ArgumentError, "marshal data too short")

    def byte
      return @source.getbyte || raise(EOFError, "end of file reached") if @io
      b = @source.getbyte(@at) || short
      @at += 1
      b
    end

    def take(size)
      return "".b if size == 0
      if @io
        text = @source.read(size)
        short if text.nil? || text.bytesize < size
        return text.b
      end
      short if @at + size > @source.bytesize
      text = @source.byteslice(@at, size).b
      @at += size
      text
    end

    def long
      first = byte
      first -= 256 if first > 127
      return 0 if first == 0
      return first - 5 if first > 4
      return first + 5 if first < -4
      number = first.abs.times.sum { |i| byte << 8 * i }
      first < 0 ? number - (1 << 8 * -first) : number
    end

    def bytes = take(long)

    def enter(object) = (@objects << object; object)

    def done(object, partial = false)
      return object if partial
      object.freeze if @freeze && !(Module === object)
      @filter ? @filter.call(object) : object
    end

    def symbol
      case kind = byte.chr
      when ":" then new_symbol
      when ";" then @symbols[long]
      when "I"
        raise ArgumentError, "dump format error for symbol(0x#{kind.ord.to_s(16)})" unless byte == 58
        wide_symbol
      else raise ArgumentError, "dump format error for symbol(0x#{kind.ord.to_s(16)})"
      end
    end

    def new_symbol
      text = bytes
      @symbols << (text.ascii_only? ? text.to_sym : text.force_encoding("BINARY").to_sym)
      @symbols.last
    end

    def wide_symbol
      text = bytes
      at = @symbols.size
      @symbols << nil
      long.times { set_encoding(text, symbol, read) }
      @symbols[at] = text.to_sym
    end

    def set_encoding(text, name, value)
      case name
      when :E then text.force_encoding(value ? "UTF-8" : "US-ASCII")
      when :encoding then text.force_encoding(value)
      else return false
      end
      true
    end

    def constant(name, kind = Class)
      found = name.to_s.split("::").inject(Object) { |scope, part| scope.const_get(part) }
      raise ArgumentError, "#{name} does not refer to #{kind == Class ? "class" : "module"}" unless kind === found
      found
    rescue NameError
      raise ArgumentError, "undefined class/module #{name}"
    end

    def read(partial = false, modules = [])
      case kind = byte.chr
      when "0" then done(nil)
      when "T" then done(true)
      when "F" then done(false)
      when "i" then done(long)
      when ":" then done(new_symbol)
      when ";" then done(@symbols[long])
      when "@" then link
      when "l" then done(enter(big))
      when "f" then done(enter(float(bytes)))
      when '"' then done(enter(bytes), partial)
      when "/" then regexp(partial)
      when "[" then array
      when "{", "}" then hash(kind == "}")
      when "c" then done(enter(constant(bytes)))
      when "m" then done(enter(constant(bytes, Module)))
      when "M" then done(enter(constant(bytes, Module)))
      when "I" then with_extras
      when "e" then extended(modules)
      when "C" then of_class(symbol)
      when "S" then struct(constant(symbol))
      when "o" then record(constant(symbol), modules)
      when "u" then user_bytes(constant(symbol), nil)
      when "U" then user_object(constant(symbol))
      when "d" then raise TypeError, "dump format error: data objects are not supported"
      else raise ArgumentError, "dump format error(0x#{kind.ord.to_s(16)})"
      end
    end

    def link
      at = long
      raise ArgumentError, "dump format error (unlinked)" if at >= @objects.size
      @objects[at]
    end

    def big
      minus = byte == 45
      number = take(long * 2).unpack("v*").each_with_index.sum { |digit, i| digit << 16 * i }
      minus ? -number : number
    end

    def float(text)
      case text
      when "nan" then Float::NAN
      when "inf" then Float::INFINITY
      when "-inf" then -Float::INFINITY
      else text.to_f
      end
    end

    def regexp(partial)
      source, options = bytes, byte
      made = Regexp.new(partial ? source.force_encoding("UTF-8") : source, options)
      done(enter(made), partial)
    end

    def array
      list = enter([])
      long.times { list << read }
      done(list)
    end

    def hash(with_default)
      table = enter({})
      fill(table, with_default)
      done(table)
    end

    def fill(table, with_default)
      long.times do
        key = read
        table[key] = read
      end
      table.default = read if with_default
    end

    def with_extras
      kind = @io ? nil : @source[@at]
      if kind == ":"
        byte
        return done(wide_symbol)
      end
      if kind == "u"
        byte
        return user_bytes(constant(symbol), true)
      end
      object = read(true)
      own_extras(object)
      done(object)
    end

    def own_extras(object)
      long.times do
        name, value = symbol, read
        next if String === object && set_encoding(object, name, value)
        next if Regexp === object && (name == :E || name == :encoding)
        object.instance_variable_set(name, value) if name.start_with?("@")
      end
    end

    def extended(modules)
      modules << constant(symbol, Module)
      object = read(true, modules)
      modules.reverse_each { |m| object.extend(m) }
      done(object)
    end

    def of_class(name)
      kind = constant(name)
      at = @objects.size
      base = read(true)
      if kind == Hash
        table = {}.compare_by_identity
        base.each { |key, value| table[key] = value }
        return @objects[at] = table
      end
      object = kind.allocate
      Regexp === base ? object.__send__(:initialize, base.source, base.options) : object.replace(base)
      @objects[at] = object
      object
    end

    def struct(kind)
      object = enter(kind.allocate)
      long.times do
        name, value = symbol, read
        raise TypeError, "struct #{kind} not compatible (:#{name} for :#{kind.members[0]})" unless kind.members.include?(name)
        object[name] = value
      end
      done(object)
    end

    def record(kind, modules)
      at = @objects.size
      object = enter(kind <= Range || kind <= Set ? nil : kind.allocate)
      fields = {}
      long.times do
        name = symbol
        fields[name] = read
      end
      return @objects[at] = done(Range.new(fields[:begin], fields[:end], fields[:excl])) if kind <= Range
      return @objects[at] = done(kind.new(fields[:@hash].keys)) if kind <= Set
      if Exception === object
        text, trace = fields.delete(:mesg), fields.delete(:bt)
        Exception.instance_method(:initialize).bind_call(object, *text)
        object.set_backtrace(trace) if trace
      end
      fields.each { |name, value| object.instance_variable_set(name, value) if name.start_with?("@") }
      modules.empty? ? done(object) : object
    end

    def user_bytes(kind, extras)
      raise TypeError, "class #{kind} needs to have method `_load'" unless kind.respond_to?(:_load, true)
      text = bytes
      more = {}
      if extras
        long.times do
          name, value = symbol, read
          next if set_encoding(text, name, value)
          name.start_with?("@") ? text.instance_variable_set(name, value) : more[name] = value
        end
      end
      object = kind <= Time ? kind.__send__(:_load, text, more) : kind.__send__(:_load, text)
      done(enter(object))
    end

    def user_object(kind)
      if kind == Rational || kind == Complex
        at = @objects.size
        enter(nil)
        parts = read
        return @objects[at] = done(kind == Rational ? Rational(*parts) : Complex(*parts))
      end
      object = enter(kind.allocate)
      raise TypeError, "instance of #{kind} needs to have method `marshal_load'" unless object.respond_to?(:marshal_load, true)
      object.__send__(:marshal_load, read)
      done(object)
    end
  end
  private_constant :Reader
end
