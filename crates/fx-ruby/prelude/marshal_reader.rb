# Bytes of a dump as objects again.
module Marshal
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
        unless kind.members.include?(name)
          raise TypeError, "struct #{kind} not compatible (:#{name} for :#{kind.members[0]})"
        end
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
      unless object.respond_to?(:marshal_load, true)
        raise TypeError, "instance of #{kind} needs to have method `marshal_load'"
      end
      object.__send__(:marshal_load, read)
      done(object)
    end
  end
end
