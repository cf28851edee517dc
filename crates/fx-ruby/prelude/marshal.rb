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

  autoload :Reader, "prelude:marshal_reader.rb"
  private_constant :Reader
end
