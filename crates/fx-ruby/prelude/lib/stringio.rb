class StringIO
  include Enumerable
  VERSION = "3.0.1"
  def self.new(*a, **k, &b)
    __note("StringIO::new() does not take block; use StringIO::open() instead", false) if b
    super(*a, **k)
  end
  def self.open(*a, **k)
    io = new(*a, **k)
    return io unless block_given?
    begin
      yield io
    ensure
      io.__drop
    end
  end
  attr_accessor :lineno
  def initialize(s = "".dup.force_encoding(Encoding.default_external), mode = nil, **k)
    mode ||= k[:mode]
    __options(mode, k) unless k.empty?
    raise TypeError, "no implicit conversion of #{s.nil? ? "nil" : s.class} into String" unless s.respond_to?(:to_str)
    s = s.to_str
    @s = s
    mode = mode.to_str if mode.respond_to?(:to_str)
    f = mode ? IO.__mode(mode) : [true, !s.frozen?, false, false]
    raise Errno::EACCES, "Permission denied" if f[1] && s.frozen?
    @r, @w, @a = f[0], f[1], f[2]
    @s.replace("".dup.force_encoding(@s.encoding)) if f[3]
    @pos = 0
    @lineno = 0
    @enc = nil
    binmode if k[:binmode] || (String === mode && mode.match?(/\A[^:]*b/) && !mode.include?(":"))
    set_encoding(k[:external_encoding] || k[:encoding]) if k[:external_encoding] || k[:encoding]
    set_encoding(mode.split(":", 2)[1]) if String === mode && mode.include?(":")
    self
  end
  def __options(mode, k)
    text = String === mode ? mode.split(":")[0] : ""
    if String === mode && mode.include?(":") &&
       (k.key?(:encoding) || k.key?(:external_encoding) || k.key?(:internal_encoding))
      raise ArgumentError, "encoding specified twice"
    end
    raise ArgumentError, "binmode specified twice" if text.include?("b") && k.key?(:binmode)
    raise ArgumentError, "textmode specified twice" if text.include?("t") && k.key?(:textmode)
    if (text.include?("b") && k.key?(:textmode)) || (text.include?("t") && k.key?(:binmode)) ||
       (k[:textmode] && k[:binmode])
      raise ArgumentError, "both textmode and binmode specified"
    end
  end
  def __drop
    @r = @w = false
    @s = nil
  end
  def initialize_copy(o) = self
  attr_reader :pos
  alias tell pos
  def pos=(n)
    raise Errno::EINVAL, "Invalid argument" if n < 0
    @pos = n
  end
  def string = @s
  def string=(s)
    @s = s.to_str
    @pos = @lineno = 0
    @r = true
    @w = !@s.frozen?
    @s
  end
  def __r = raise(IOError, "not opened for reading") unless @r
  def __w = raise(IOError, "not opened for writing") unless @w
  def __r!
    raise IOError, "not opened for reading" unless @r
  end
  def __w!
    raise IOError, "not opened for writing" unless @w
  end
  def rewind = (@pos = @lineno = 0)
  def eof? = (__r!; @pos >= @s.bytesize)
  alias eof eof?
  def size = @s.bytesize
  alias length size
  def close = (@r = @w = false; nil)
  def closed? = !@r && !@w
  def close_read = (raise IOError, "closing non-duplex IO for reading" unless @r; @r = false; nil)
  def close_write = (raise IOError, "closing non-duplex IO for writing" unless @w; @w = false; nil)
  def closed_read? = !@r
  def closed_write? = !@w
  def sync = true
  def sync=(v)
    v
  end
  def flush = self
  def fsync = 0
  def fileno = nil
  def pid = nil
  def fcntl(*) = raise(NotImplementedError, "fcntl() function is unimplemented on this machine")
  def tty? = false
  alias isatty tty?
  def binmode = (@enc = Encoding::BINARY; @s.force_encoding(@enc) if @w && @s; self)
  def external_encoding = @enc || @s.encoding
  def internal_encoding = nil
  def set_encoding(e, *)
    e = e.split(":")[0].sub(/\ABOM\|/i, "") if String === e
    e = Encoding.find(e) if e && !(Encoding === e)
    @enc = e || Encoding.default_external
    @s.force_encoding(@enc) if @w && !@s.frozen?
    self
  end
  def set_encoding_by_bom
    raise FrozenError.new("can't modify frozen StringIO: #{inspect}", receiver: self) if frozen?
    return nil unless @r
    head = @s.b[0, 4]
    marks = {
      "\xEF\xBB\xBF".b => Encoding::UTF_8, "\xFF\xFE\0\0".b => Encoding::UTF_32LE,
      "\0\0\xFE\xFF".b => Encoding::UTF_32BE, "\xFF\xFE".b => Encoding::UTF_16LE, "\xFE\xFF".b => Encoding::UTF_16BE
    }
    found = marks.find do |bom, _|
      head.start_with?(bom)
    end
    return nil unless found
    @pos = found[0].bytesize
    set_encoding(found[1])
    found[1]
  end
  def __as(s) = @enc && s.encoding != @enc ? s.dup.force_encoding(@enc) : s
  private :__as, :__options
  def write(*a)
    __w!
    n = 0
    a.each do |v|
      v = v.to_s
      wanted = external_encoding
      if v.encoding != wanted && wanted != Encoding::BINARY && v.encoding != Encoding::BINARY &&
         (!wanted.ascii_compatible? || !v.ascii_only?)
        v = v.encode(wanted)
      end
      @pos = @s.bytesize if @a
      b = v.b
      if @pos == @s.bytesize
        @s << (v.encoding == @s.encoding || v.ascii_only? ? v : v.dup.force_encoding(@s.encoding))
      else
        e = @s.encoding
        raw = @s.b
        raw = raw.ljust(@pos, "\0") if raw.bytesize < @pos
        raw[@pos, b.bytesize] = b
        @s.replace(raw.force_encoding(e))
      end
      @pos += b.bytesize
      n += b.bytesize
    end
    n
  end
  def <<(v) = (write(v); self)
  def print(*a) = ((a.empty? ? [$_] : a).each { |v| write(v) }; write($\) if $\; nil)
  def puts(*a)
    return (write("\n"); nil) if a.empty?
    a.each { |v| __puts(v, []) }
    nil
  end
  def __puts(v, seen)
    if (l = Array.try_convert(v))
      return write("[...]\n") if seen.include?(l.object_id)
      l.each { |x| __puts(x, seen + [l.object_id]) }
    else
      s = v.to_s
      write(s.end_with?("\n") ? s : s + "\n")
    end
  end
  def printf(f, *a) = (write(format(f, *a)); nil)
  def putc(c) = (write(String === c ? c[0] : (Array.__to_int(c) & 255).chr); c)
  def syswrite(v) = write(v)
  def write_nonblock(v, exception: true) = write(v)
  def read(len = nil, buf = nil)
    __r!
    if len
      len = Array.__to_int(len)
      raise ArgumentError, "negative length #{len} given" if len < 0
      if len > 0 && @pos >= @s.bytesize
        buf&.replace("")
        return nil
      end
      s = (@s.byteslice(@pos, len) || "").b
    else
      s = __as(@s.byteslice(@pos, @s.bytesize) || "".dup.force_encoding(@s.encoding))
    end
    @pos += s.bytesize
    buf ? Process.__str(buf).replace(s) : s
  end
  def pread(len, off)
    raise ArgumentError, "negative string size (or size too big): #{len}" if len < 0
    raise Errno::EINVAL, "Invalid argument - pread: Invalid offset argument" if off < 0
    return "".b if len == 0
    raise EOFError, "end of file reached" if off >= @s.bytesize
    @s.byteslice(off, len).b
  end
  def sysread(len = nil, buf = nil)
    r = read(len, buf)
    raise EOFError, "end of file reached" if r.nil? || (len.nil? && r.empty? && false)
    r
  end
  alias readpartial sysread
  def read_nonblock(len = nil, buf = nil, exception: true) = exception ? sysread(len, buf) : read(len, buf)
  def __sep(a)
    return [$/, nil] if a.empty?
    if a.size == 1
      return [nil, nil] if a[0].nil?
      return [$/, a[0]] if Integer === a[0]
      return a[0].respond_to?(:to_str) ? [a[0].to_str, nil] : [$/, Array.__to_int(a[0])]
    end
    [a[0]&.to_str, a[1] && Array.__to_int(a[1])]
  end
  private :__sep, :__puts
  def __gets(sep, lim, chomp)
    return "" if lim == 0
    return nil if @pos >= @s.bytesize
    rest = @s.byteslice(@pos, @s.bytesize)
    if sep == ""
      skip = rest[/\A\n+/].to_s.bytesize
      @pos += skip
      rest = rest.byteslice(skip, rest.bytesize)
      return nil if rest.empty?
      i = rest.index("\n\n")
      l = i ? rest[0, i + 2] : rest
      tail = rest.byteslice(l.bytesize, rest.bytesize)[/\A\n+/].to_s.bytesize
    elsif sep.nil? then l = rest
    else
      i = rest.b.index(sep.b)
      l = i ? rest.byteslice(0, i + sep.bytesize) : rest
    end
    if lim && lim >= 0 && l.bytesize > lim
      n = lim
      n += 1 until l.byteslice(0, n).valid_encoding? || n >= l.bytesize
      l = l.byteslice(0, n)
      tail = 0
    end
    @pos += l.bytesize + tail.to_i
    @lineno += 1
    l = __as(l)
    chomp && sep ? l.chomp(sep == "" ? "\n" : sep) : l
  end
  def gets(*a, chomp: false)
    __r!
    $_ = __gets(*__sep(a), chomp)
  end
  def readline(*a, chomp: false) = gets(*a, chomp: chomp) || raise(EOFError, "end of file reached")
  def each(*a, chomp: false)
    return to_enum(:each, *a, chomp: chomp) unless block_given?
    __r!
    sep, lim = __sep(a)
    raise ArgumentError, "invalid limit: 0 for each_line" if lim == 0
    while (l = __gets(sep, lim, chomp))
      yield l
    end
    self
  end
  alias each_line each
  def readlines(*a, chomp: false)
    __r!
    sep, lim = __sep(a)
    raise ArgumentError, "invalid limit: 0 for readlines" if lim == 0
    r = []
    while (l = __gets(sep, lim, chomp))
      r << l
    end
    r
  end
  def getc
    __r!
    return nil if @pos >= @s.bytesize
    c = __as(@s.byteslice(@pos, @s.bytesize))[0]
    @pos += c.bytesize
    c
  end
  def readchar = getc || raise(EOFError, "end of file reached")
  def getbyte = (__r!; b = @s.getbyte(@pos); @pos += 1 if b; b)
  def readbyte = getbyte || raise(EOFError, "end of file reached")
  def each_char = block_given? ? ((while (c = getc); yield c; end); self) : to_enum(:each_char)
  def each_byte = block_given? ? ((while (b = getbyte); yield b; end); self) : to_enum(:each_byte)
  def each_codepoint = block_given? ? ((while (c = getc); yield c.ord; end); self) : to_enum(:each_codepoint)
  def ungetc(c)
    __r!
    return nil if c.nil?
    c = Integer === c ? c.chr(@s.encoding) : Process.__str(c)
    __unget(c.b)
  end
  def ungetbyte(c)
    __r!
    return nil if c.nil?
    __unget(Integer === c ? (c & 255).chr.b : c.b)
  end
  def __unget(b)
    e = @s.encoding
    raw = @s.b
    raw = raw.ljust(@pos, "\0") if raw.bytesize < @pos
    n = b.bytesize
    if n <= @pos
      raw[@pos - n, n] = b
      @pos -= n
    else
      raw[0, @pos] = b
      @pos = 0
    end
    @s.replace(raw.force_encoding(e))
    nil
  end
  def seek(n, w = 0)
    raise IOError, "closed stream" if closed?
    n = Array.__to_int(n)
    p = case w
        when 0 then n
        when 1 then @pos + n
        when 2 then @s.bytesize + n
        else raise Errno::EINVAL, "Invalid argument - invalid whence"
        end
    raise Errno::EINVAL, "Invalid argument" if p < 0
    @pos = p
    0
  end
  def truncate(n)
    __w!
    n = Array.__to_int(n)
    raise Errno::EINVAL, "Invalid argument - negative length" if n < 0
    @s.replace(n < @s.bytesize ? @s.byteslice(0, n) : @s + "\0" * (n - @s.bytesize))
    0
  end
  def reopen(o = +"", mode = nil)
    return (i = o; @s, @pos, @r, @w = i.string, i.pos, true, true; self) if StringIO === o
    initialize(o, mode)
    self
  end
  def getch(*) = getc
  def getpass(*) = (gets&.chomp)
  def inspect = to_s
end
