# Conversion of text between encodings, over String#encode.
class Encoding::Converter
  INVALID_MASK, INVALID_REPLACE, UNDEF_MASK, UNDEF_REPLACE, UNDEF_HEX_CHARREF = 0xf, 0x2, 0xf0, 0x20, 0x30
  PARTIAL_INPUT, AFTER_OUTPUT = 0x10000, 0x20000
  UNIVERSAL_NEWLINE_DECORATOR, CRLF_NEWLINE_DECORATOR, CR_NEWLINE_DECORATOR = 0x100, 0x1000, 0x2000
  XML_TEXT_DECORATOR, XML_ATTR_CONTENT_DECORATOR, XML_ATTR_QUOTE_DECORATOR = 0x4000, 0x8000, 0x100000

  attr_reader :source_encoding, :destination_encoding, :last_error

  def self.asciicompat_encoding(name)
    name = Encoding === name ? name.name : name.to_str
    case name.upcase
    when /\AUTF-(16|32)(BE|LE)?\z/ then Encoding::UTF_8
    when "ISO-2022-JP" then Encoding.find("stateless-ISO-2022-JP") rescue nil
    end
  end

  def self.search_convpath(source, destination, **options)
    from, to = Encoding.find(source), Encoding.find(destination)
    raise Encoding::ConverterNotFoundError, "code converter not found (#{source} to #{destination})" if from == to
    direct = from == Encoding::UTF_8 || to == Encoding::UTF_8
    path = direct ? [[from, to]] : [[from, Encoding::UTF_8], [Encoding::UTF_8, to]]
    path + decorators(options)
  end

  def self.decorators(options)
    names = { universal_newline: "universal_newline", crlf_newline: "crlf_newline", cr_newline: "cr_newline" }
    names.filter_map { |key, name| name if options[key] || options[:newline] == name.delete_suffix("_newline").to_sym }
  end
  private_class_method :decorators

  def initialize(source, destination, flags = nil, **options)
    @source_encoding, @destination_encoding = encoding(source), encoding(destination)
    if Integer === flags
      options[:invalid] = :replace if flags & INVALID_MASK == INVALID_REPLACE
      options[:undef] = :replace if flags & UNDEF_MASK == UNDEF_REPLACE
      options[:universal_newline] = true if flags & UNIVERSAL_NEWLINE_DECORATOR != 0
      options[:crlf_newline] = true if flags & CRLF_NEWLINE_DECORATOR != 0
    end
    @options = options
    @replacement = options[:replace]
    @error = [:source_buffer_empty, nil, nil, nil, nil]
  end

  def convpath
    return Encoding::Converter.__send__(:decorators, @options) unless @source_encoding && @destination_encoding
    marks = @options.slice(:universal_newline, :crlf_newline, :cr_newline, :newline)
    Encoding::Converter.search_convpath(@source_encoding.name, @destination_encoding.name, **marks)
  end

  def replacement
    @replacement || (@destination_encoding.to_s.start_with?("UTF") ? "\u{FFFD}" : "?".encode("US-ASCII"))
  end
  def replacement=(text)
    @options[:replace] = @replacement = text
  end

  def convert(text)
    converted(text)
  rescue Encoding::UndefinedConversionError, Encoding::InvalidByteSequenceError => e
    @last_error = e
    raise
  end

  def finish = "".dup.force_encoding(@destination_encoding || Encoding::UTF_8)

  # Converts as far as it can; the source keeps what is left.
  def primitive_convert(source, destination, at = nil, size = nil, *, **)
    destination.clear unless at
    destination.force_encoding(@destination_encoding) if @destination_encoding
    done, bad = 0, nil
    source.dup.force_encoding(@source_encoding || source.encoding).each_char do |char|
      bad = char
      made = converted(char)
      return note(:destination_buffer_full, source, done) if size && destination.bytesize + made.bytesize > size
      destination << made
      done += char.bytesize
    end
    note(:finished, source, done)
  rescue Encoding::UndefinedConversionError => e
    @last_error = e
    note(:undefined_conversion, source, done + bad.bytesize, bad)
  rescue Encoding::InvalidByteSequenceError => e
    @last_error = e
    note(:invalid_byte_sequence, source, done + bad.bytesize, bad)
  end

  def primitive_errinfo = @error
  def insert_output(_) = nil
  def putback(*) = ""
  def ==(other) = other.class == self.class && convpath == other.convpath && replacement == other.replacement
  def inspect = "#<Encoding::Converter: #{@source_encoding} to #{@destination_encoding}>"

  private

  def encoding(name)
    return name if Encoding === name
    name = name.to_str
    name.empty? ? nil : Encoding.find(name)
  rescue ArgumentError
    raise Encoding::ConverterNotFoundError, "code converter not found (#{name})"
  end

  def converted(text)
    text = text.dup.force_encoding(@source_encoding) if @source_encoding
    return text.encode(@destination_encoding, @source_encoding, **@options) if @destination_encoding
    text.encode(text.encoding, **@options)
  end

  def note(what, source, done, bad = nil)
    source.replace(source.byteslice(done..) || "")
    @error = [what, @source_encoding&.name, @destination_encoding&.name, bad&.b, bad && ""]
    what
  end
end
