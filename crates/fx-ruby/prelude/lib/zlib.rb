# Checksums and compression as zlib names them. Streams collect what they are given and make the
# whole at the end, so what comes out of a stream before it is finished comes later than with zlib.
module Zlib
  VERSION = "3.0.0"
  ZLIB_VERSION = "1.2.13"
  class Error < StandardError; end
  class DataError < Error; end
  class BufError < Error; end
  class StreamError < Error; end
  class StreamEnd < Error; end
  class NeedDict < Error; end
  class MemError < Error; end
  class VersionError < Error; end
  NO_COMPRESSION, BEST_SPEED, BEST_COMPRESSION, DEFAULT_COMPRESSION = 0, 1, 9, -1
  DEFAULT_STRATEGY, FILTERED, HUFFMAN_ONLY, RLE, FIXED = 0, 1, 2, 3, 4
  MAX_WBITS, DEF_MEM_LEVEL, MAX_MEM_LEVEL = 15, 8, 9
  NO_FLUSH, SYNC_FLUSH, FULL_FLUSH, FINISH = 0, 2, 3, 4
  BINARY, ASCII, TEXT, UNKNOWN = 0, 1, 1, 2
  OS_UNIX, OS_MSDOS, OS_UNKNOWN, OS_CODE = 3, 0, 255, 3

  class << self
    def zlib_version = ZLIB_VERSION
    def crc_table
      @crc_table ||= Array.new(256) do |n|
        8.times { n = n.odd? ? (n >> 1) ^ 0xEDB88320 : n >> 1 }
        n
      end.freeze
    end
    def crc32(text = nil, crc = 0) = text.nil? ? 0 : __crc32(text.respond_to?(:read) ? text.read : text, crc)
    def adler32(text = nil, adler = 1)
      return 1 if text.nil?
      a = adler & 0xFFFF
      b = adler >> 16
      text.to_s.each_byte do |byte|
        a = (a + byte) % 65521
        b = (b + a) % 65521
      end
      (b << 16) | a
    end
    def deflate(text, level = DEFAULT_COMPRESSION) = Deflate.deflate(text, level)
    def inflate(text) = Inflate.inflate(text)
    def gzip(text, level: nil, strategy: nil)
      head = [0x1f, 0x8b, 8, 0, 0, level == 9 ? 2 : level == 1 ? 4 : 0, OS_CODE].pack("CCCCVCC")
      head + __deflate(text, level || -1, true) + [crc32(text), text.bytesize & 0xFFFFFFFF].pack("VV")
    end
    def gunzip(text)
      body, = GzipFile.__read(text)
      body
    end
  end

  class ZStream
    def initialize = (@in, @out, @finished, @closed = "".b, "".b, false, false)
    def finished? = @finished
    alias stream_end? finished?
    def closed? = @closed
    alias ended? closed?
    def close
      raise Zlib::Error, "stream is not ready" if @closed
      @closed = true
      nil
    end
    alias end close
    def reset = (@in, @out, @finished = "".b, "".b, false; nil)
    def total_in = @total_in || @in.bytesize
    def total_out = @total_out || 0
    def avail_in = 0
    def data_type = BINARY
    def flush_next_in = ""
    def flush_next_out = ""
  end

  class Deflate < ZStream
    def self.deflate(text, level = DEFAULT_COMPRESSION) = Zlib.__deflate(text, level || -1, false)
    def initialize(level = nil, wbits = nil, memlevel = nil, strategy = nil)
      super()
      @level, @wbits = level || -1, wbits || MAX_WBITS
    end
    def deflate(text, flush = NO_FLUSH)
      @in << text if text
      return "".b unless flush == FINISH
      made = finish
      block_given? ? yield(made) : made
    end
    def <<(text) = (@in << text; self)
    def params(level, _strategy) = @level = level
    def set_dictionary(_) = raise(NotImplementedError, "dictionaries of Zlib are not supported by this runtime")
    def flush(_ = SYNC_FLUSH) = "".b
    def finish
      return "".b if @finished
      @finished = true
      @total_in = @in.bytesize
      made = @wbits > 15 ? Zlib.gzip(@in, level: @level) : Zlib.__deflate(@in, @level, @wbits < 0)
      @total_out = made.bytesize
      made
    end
  end

  class Inflate < ZStream
    def self.inflate(text)
      stream = new
      made = stream.inflate(text)
      raise BufError, "buffer error" unless stream.finished?
      made
    end
    def initialize(wbits = MAX_WBITS)
      super()
      @wbits = wbits
    end
    def inflate(text, buffer: nil)
      @in << text if text
      return "".b if @in.empty? || @finished
      made, used = whole
      return text.nil? ? raise(BufError, "buffer error") : "".b unless made
      @finished, @total_in, @total_out = true, used, made.bytesize
      @rest = @in.byteslice(used..)
      made = buffer.replace(made) if buffer
      block_given? ? yield(made) : made
    end
    def <<(text) = (@out << inflate(text); self)
    def finish = (made, @out = @out, "".b; made)
    def sync_point? = false
    def set_dictionary(_) = raise(NotImplementedError, "dictionaries of Zlib are not supported by this runtime")

    private

    def whole
      return GzipFile.__read(@in) if @wbits > 15 && (@wbits < 32 || @in.start_with?("\x1f\x8b".b))
      if @wbits > 0 && @in.bytesize >= 2
        first, second = @in.unpack("CC")
        raise DataError, "incorrect header check" unless first & 15 == 8 && (first << 8 | second) % 31 == 0
      end
      Zlib.__inflate(@in, @wbits < 0)
    end
  end

  class GzipFile
    class Error < Zlib::Error; end
    class NoFooter < Error; end
    class CRCError < Error; end
    class LengthError < Error; end
    attr_accessor :mtime, :orig_name, :comment
    attr_reader :level, :os_code
    def self.wrap(*args, **options)
      file = new(*args, **options)
      return file unless block_given?
      begin
        yield file
      ensure
        file.close unless file.closed?
      end
    end
    def closed? = @closed
    def sync = false
    def sync=(v)
      v
    end
    def to_io = @io
    def crc = Zlib.crc32(@text)

    # The text of one member, and how many bytes it took; what its head says goes to the block.
    def self.__read(bytes)
      bytes = bytes.b
      raise Error, "not in gzip format" unless bytes.bytesize >= 10 && bytes.start_with?("\x1f\x8b\b".b)
      flags, time, os = bytes.getbyte(3), bytes.byteslice(4, 4).unpack1("V"), bytes.getbyte(9)
      at = 10
      at += 2 + bytes.byteslice(at, 2).unpack1("v") if flags & 4 != 0
      name, comment = [8, 16].map do |bit|
        next if flags & bit == 0
        stop = bytes.index("\0".b, at) or raise Error, "not in gzip format"
        text = bytes.byteslice(at...stop)
        at = stop + 1
        text
      end
      at += 2 if flags & 2 != 0
      text, used = Zlib.__inflate(bytes.byteslice(at..), true)
      raise Zlib::BufError, "buffer error" unless text
      at += used
      sum, size = bytes.byteslice(at, 8).to_s.unpack("VV")
      raise NoFooter, "footer is not found" unless size
      raise CRCError, "invalid compressed data -- crc error" unless sum == Zlib.crc32(text)
      raise LengthError, "invalid compressed data -- length error" unless size == text.bytesize & 0xFFFFFFFF
      yield time, os, name, comment if block_given?
      [text, at + 8]
    end
  end

  class GzipWriter < GzipFile
    def self.open(path, level = nil, strategy = nil, &block) = wrap(File.open(path, "wb"), level, strategy, &block)
    def initialize(io, level = nil, _strategy = nil, **)
      @io, @level, @text, @closed = io, level, "".b, false
    end
    def write(*texts) = texts.sum { |text| (text = text.to_s).then { @text << text.b; text.bytesize } }
    def <<(text) = (write(text); self)
    def print(*args) = (args.each { |arg| write(arg) }; nil)
    def puts(*args)
      lines = args.empty? ? ["\n"] : args.flatten.map { |arg| (text = arg.to_s).end_with?("\n") ? text : "#{text}\n" }
      lines.each { |line| write(line) }
      nil
    end
    def printf(*args) = (write(format(*args)); nil)
    def putc(c) = (write(String === c ? c[0] : c.chr); c)
    def pos = @text.bytesize
    alias tell pos
    def flush(*) = self
    def finish
      @closed = true
      flags = (@orig_name ? 8 : 0) | (@comment ? 16 : 0)
      head = [0x1f, 0x8b, 8, flags, (@mtime || 0).to_i, 0, OS_CODE].pack("CCCCVCC")
      head << @orig_name.b << "\0" if @orig_name
      head << @comment.b << "\0" if @comment
      tail = [Zlib.crc32(@text), @text.bytesize & 0xFFFFFFFF].pack("VV")
      @io.write(head + Zlib.__deflate(@text, @level || -1, true) + tail)
      @io
    end
    def close
      raise GzipFile::Error, "closed gzip stream" if @closed
      finish
      @io.close if @io.respond_to?(:close)
      @io
    end
  end

  class GzipReader < GzipFile
    include Enumerable
    attr_accessor :lineno
    def self.open(path, &block) = wrap(File.open(path, "rb"), &block)
    def self.zcat(io, **)
      rest, text = io.read, "".b
      until rest.empty?
        part, used = GzipFile.__read(rest)
        text << part
        rest = rest.byteslice(used..)
      end
      text
    end
    def initialize(io, external_encoding: nil, **)
      @io, @closed, @lineno = io, false, 0
      bytes = io.read.to_s
      @text, used = GzipFile.__read(bytes) do |time, os, name, comment|
        @mtime, @os_code, @orig_name, @comment = Time.at(time), os, name, comment
      end
      @unused = bytes.byteslice(used..)
      @encoding = external_encoding ? Encoding.find(external_encoding.to_s) : Encoding.default_external
      require "stringio"
      @from = StringIO.new(@text)
    end
    def external_encoding = @encoding
    def unused = @unused.empty? ? nil : @unused
    def read(length = nil, *)
      text = @from.read(length)
      length || text.nil? ? text : text.force_encoding(@encoding)
    end
    def readpartial(length, *) = @from.read(length) || raise(EOFError, "end of file reached")
    def gets(*args) = @from.gets(*args)&.force_encoding(@encoding)&.tap { @lineno += 1 }
    def readline(*args) = gets(*args) || raise(EOFError, "end of file reached")
    def each_line(*args)
      return to_enum(:each_line, *args) unless block_given?
      while (line = gets(*args))
        yield line
      end
      self
    end
    alias each each_line
    def readlines(*args) = each_line(*args).to_a
    def each_byte(&block) = block ? (@text.each_byte(&block); self) : to_enum(:each_byte)
    def getc = @from.getc
    def getbyte = @from.getbyte
    def ungetc(c) = @from.ungetc(c)
    def eof? = @from.eof?
    alias eof eof?
    def pos = @from.pos
    alias tell pos
    def rewind = (@from.rewind; @lineno = 0; 0)
    def close
      raise GzipFile::Error, "closed gzip stream" if @closed
      finish
      @io.close if @io.respond_to?(:close)
      @io
    end
    def finish = (@closed = true; @io)
  end
end
