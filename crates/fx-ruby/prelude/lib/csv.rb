# CSV: reading and writing tables of text with the options in everyday use.
class CSV
  include Enumerable

  class MalformedCSVError < RuntimeError
    attr_reader :line_number
    alias lineno line_number
    def initialize(message, line_number)
      @line_number = line_number
      super("#{message} in line #{line_number}.")
    end
  end

  # A line with headers: reads by name and by place.
  class Row
    include Enumerable
    attr_reader :headers, :fields
    def initialize(headers, fields, header_row = false)
      @headers, @fields, @header_row = headers.dup, fields.dup, header_row
      @fields << nil while @fields.size < @headers.size
    end
    def header_row? = @header_row
    def field_row? = !@header_row
    def [](key) = key.is_a?(Integer) ? @fields[key] : (i = @headers.index(key)) && @fields[i]
    alias field []
    def []=(key, value)
      i = key.is_a?(Integer) ? key : @headers.index(key)
      i ? @fields[i] = value : (@headers << key; @fields << value)
    end
    def fetch(key, *default)
      return self[key] if @headers.include?(key)
      return yield(key) if block_given?
      default.empty? ? raise(KeyError, "key not found: #{key}") : default.first
    end
    def has_key?(key) = @headers.include?(key)
    alias header? has_key?
    alias include? has_key?
    alias key? has_key?
    def dig(key, *more) = more.empty? ? self[key] : self[key]&.dig(*more)
    def delete(key)
      i = key.is_a?(Integer) ? key : @headers.index(key)
      i ? [@headers.delete_at(i), @fields.delete_at(i)] : []
    end
    def <<(value)
      value.is_a?(Array) ? (@headers << value[0]; @fields << value[1]) : (@headers << nil; @fields << value)
      self
    end
    def values_at(*keys) = keys.map { |k| self[k] }
    def each(&block)
      return to_enum(:each) unless block
      @headers.zip(@fields).each(&block)
      self
    end
    alias each_pair each
    def to_h = @headers.zip(@fields).each_with_object({}) { |(k, v), h| h[k] = v unless h.key?(k) }
    alias to_hash to_h
    def size = @fields.size
    alias length size
    def empty? = @fields.empty?
    def ==(other) = other.is_a?(Row) ? to_a == other.to_a : @fields == other
    def to_csv(**options) = CSV.generate_line(@fields, **options)
    alias to_s to_csv
    def inspect = "#<CSV::Row #{to_h.map { |k, v| "#{k}:#{v.inspect}" }.join(" ")}>"
  end

  # All lines of a text with headers.
  class Table
    include Enumerable
    attr_reader :headers
    def initialize(rows, headers: nil) = (@rows, @headers = rows, headers || rows.first&.headers || [])
    def [](key) = key.is_a?(Integer) || key.is_a?(Range) ? @rows[key] : @rows.map { |r| r[key] }
    def each(&block)
      return to_enum(:each) unless block
      @rows.each(&block)
      self
    end
    def <<(row)
      @rows << (row.is_a?(Row) ? row : Row.new(@headers, row))
      self
    end
    def size = @rows.size
    alias length size
    def by_row = self
    def to_a = [@headers] + @rows.map(&:fields)
    def to_csv(write_headers: true, **options)
      ((write_headers ? [CSV.generate_line(@headers, **options)] : []) + @rows.map { |r| r.to_csv(**options) }).join
    end
    alias to_s to_csv
    def ==(other) = other.is_a?(Table) ? to_a == other.to_a : @rows == other
    def inspect = "#<CSV::Table mode:col_or_row row_count:#{size + 1}>"
  end

  Converters = {
    integer: ->(f) { Integer(f, 10) rescue f },
    float: ->(f) { Float(f) rescue f },
    numeric: %i[integer float],
    all: %i[numeric]
  }
  HeaderConverters = {
    downcase: ->(h) { h.downcase },
    symbol: ->(h) { h.strip.downcase.gsub(/[^\s\w]+/, "").gsub(/\s+/, "_").to_sym }
  }

  class << self
    def parse(text, **options, &block)
      csv = new(text, **options)
      block ? csv.each(&block) : csv.read
    end
    def parse_line(text, **options) = new(text, **options).shift
    def read(path, mode = "r", **options) = parse(File.read(path), **options)
    alias readlines read
    def table(path, **options)
      read(path, **{ headers: true, converters: :numeric, header_converters: :symbol }.merge(options))
    end
    def foreach(path, mode = "r", **options, &block)
      return to_enum(:foreach, path, mode, **options) unless block
      new(File.read(path), **options).each(&block)
    end
    def generate(text = +"", **options)
      csv = new(text, **options)
      yield csv
      csv.string
    end
    def open(path, mode = "r", **options)
      csv = new(mode.start_with?("r", "a") && File.exist?(path) ? File.read(path) : +"", **options)
      return csv unless block_given?
      result = yield csv
      File.write(path, csv.string) unless mode.start_with?("r")
      result
    end
    def generate_line(fields, col_sep: ",", row_sep: "\n", quote_char: '"', force_quotes: false, quote_empty: true, **)
      fields.map do |field|
        text = field.nil? ? nil : field.to_s
        if text.nil? then ""
        elsif force_quotes || (text.empty? && quote_empty) || text.include?(col_sep) || text.include?(quote_char) ||
              text =~ /[\r\n]|\A\s|\s\z/
          quote_char + text.gsub(quote_char, quote_char * 2) + quote_char
        else text
        end
      end.join(col_sep) + row_sep
    end
    def generate_lines(rows, **options) = rows.map { |row| generate_line(row, **options) }.join
  end

  attr_reader :lineno

  def initialize(data = "", col_sep: ",", row_sep: :auto, quote_char: '"', headers: false, converters: nil,
                 header_converters: nil, skip_blanks: false, skip_lines: nil, liberal_parsing: false,
                 return_headers: false, write_headers: false, strip: false, force_quotes: false, nil_value: nil, **)
    @text = data.respond_to?(:read) ? data.read : data.to_s
    @io = data.respond_to?(:write) ? data : nil
    @col_sep, @quote, @headers_option = col_sep, quote_char, headers
    @row_sep = row_sep == :auto ? "\n" : row_sep
    @converters = expand(converters, Converters)
    @header_converters = expand(header_converters, HeaderConverters)
    @skip_blanks, @skip_lines, @liberal, @strip = skip_blanks, skip_lines, liberal_parsing, strip
    @force_quotes, @nil_value = force_quotes, nil_value
    @write_headers = write_headers
    @at, @lineno = 0, 0
    @headers = nil
  end

  def string = @text
  def headers = @headers || (@headers_option ? true : nil)
  def eof? = @at >= @text.size
  def rewind = @at = @lineno = 0

  def <<(row)
    if @headers_option.is_a?(Array) && @write_headers && !@wrote
      @wrote = true
      put(@headers_option)
    end
    row = (@headers_option.is_a?(Array) ? @headers_option : row.keys).map { |k| row[k] } if row.is_a?(Hash)
    put(row.is_a?(Row) ? row.fields : row)
    self
  end
  alias add_row <<
  alias puts <<

  def each
    return to_enum(:each) unless block_given?
    while (row = shift)
      yield row
    end
    self
  end

  def read
    rows = to_a
    @headers_option ? Table.new(rows, headers: @headers || []) : rows
  end
  alias readlines read

  def shift
    if @headers_option && !@headers
      raw = case @headers_option
            when Array then @headers_option
            when String then CSV.parse_line(@headers_option)
            else fields
            end
      return nil unless raw
      @headers = raw.map do |h|
        next h unless h.is_a?(String)
        @header_converters.inject(h) { |value, convert| value.is_a?(String) ? convert.call(value) : value }
      end
    end
    row = fields
    return nil unless row
    row = row.map { |f| convert(f) }
    @headers_option ? Row.new(@headers, row) : row
  end
  alias gets shift
  alias readline shift

  private

  def put(fields)
    line = CSV.generate_line(
      fields, col_sep: @col_sep, row_sep: @row_sep, quote_char: @quote, force_quotes: @force_quotes
    )
    @io ? @io.write(line) : @text << line
  end

  def expand(names, table)
    Array(names).flat_map { |name| name.respond_to?(:call) ? [name] : expand_named(table.fetch(name), table) }
  end

  def expand_named(found, table)
    found.is_a?(Array) ? found.flat_map { |name| expand_named(table.fetch(name), table) } : [found]
  end

  def convert(field)
    @converters.each do |converter|
      return field unless field.is_a?(String)
      field = converter.arity == 1 || converter.arity == -1 ? converter.call(field) : converter.call(field, nil)
    end
    field
  end

  def fields
    loop do
      return nil if @at >= @text.size
      row = one_line
      next if row.empty? && @skip_blanks
      next if row == :skipped
      return row
    end
  end

  def one_line
    @lineno += 1
    if @skip_lines
      stop = @text.index("\n", @at) || @text.size
      line = @text[@at...stop]
      if @skip_lines.is_a?(Regexp) ? line =~ @skip_lines : line.include?(@skip_lines)
        @at = stop + 1
        return :skipped
      end
    end
    row = []
    start = @at
    loop do
      if @quote && @text[@at] == @quote
        row << quoted
        rest_of_field
      else
        stop = @text.index(/#{Regexp.escape(@col_sep)}|\r\n|\n|\r/, @at) || @text.size
        value = @text[@at...stop]
        raise MalformedCSVError.new("Illegal quoting", @lineno) if @quote && value.include?(@quote) && !@liberal
        value = value.strip if @strip
        row << (value.empty? ? @nil_value : value)
        @at = stop
      end
      if @text[@at, @col_sep.size] == @col_sep && @at < @text.size
        @at += @col_sep.size
        next
      end
      @at += @text[@at, 2] == "\r\n" ? 2 : 1
      break
    end
    row.size == 1 && row[0].nil? && @text[start] != @quote ? [] : row
  end

  def quoted
    value = +""
    @at += 1
    loop do
      stop = @text.index(@quote, @at) or raise MalformedCSVError.new("Unclosed quoted field", @lineno)
      part = @text[@at...stop]
      @lineno += part.count("\n")
      value << part
      @at = stop + 1
      return value unless @text[@at] == @quote
      value << @quote
      @at += 1
    end
  end

  def rest_of_field
    return if @at >= @text.size || @text[@at, @col_sep.size] == @col_sep || "\r\n".include?(@text[@at])
    raise MalformedCSVError.new("Any value after quoted field isn't allowed", @lineno)
  end
end

class Array
  def to_csv(**options) = CSV.generate_line(self, **options)
end

class String
  def parse_csv(**options) = CSV.parse_line(self, **options)
end
