class IO
  SEEK_SET = 0
  SEEK_CUR = 1
  SEEK_END = 2
  include Enumerable
  module WaitReadable; end
  module WaitWritable; end
  class EAGAINWaitReadable < Errno::EAGAIN; include WaitReadable; end
  class EAGAINWaitWritable < Errno::EAGAIN; include WaitWritable; end
  EWOULDBLOCKWaitReadable = EAGAINWaitReadable
  EWOULDBLOCKWaitWritable = EAGAINWaitWritable
  def self.__mode(mode, kw = {})
    mode = kw[:mode] if kw.key?(:mode) && mode.nil?
    mode = "r" if mode.nil?
    if Integer === mode
      acc = mode & 3
      return [
        acc != 1, acc != 0, mode & File::APPEND != 0, mode & File::TRUNC != 0, mode & File::CREAT != 0,
        mode & File::EXCL != 0
      ]
    end
    mode = mode.to_str
    m = mode.split(":")[0].delete("bt")
    raise ArgumentError, "invalid access mode #{mode}" unless m.match?(/\A[rwa]\+?x?\z|\A[rwa]x\+\z/)
    plus = m.include?("+")
    case m[0]
    when "r" then [true, plus, false, false, false, false]
    when "w" then [plus, true, false, true, true, m.include?("x")]
    else [plus, true, true, false, true, false]
    end
  end
  def self.open(*a, **k)
    io = new(*a, **k)
    return io unless block_given?
    begin
      yield io
    ensure
      io.close unless io.closed?
    end
  end
  def self.for_fd(fd, *a) = new(fd, *a)
  def initialize(fd, mode = nil, **k)
    fd = Array.__to_int(fd)
    __fd(fd)
  end
  def self.sysopen(path, mode = "r", perm = 0666)
    f = File.new(path, mode, perm)
    f.fileno
  end
  def self.read(name, len = nil, offset = nil, **k)
    raise ArgumentError, "negative length #{len} given" if len && len < 0
    s = File.__read(File.__p(name))
    s.force_encoding(Encoding::BINARY) if k[:mode].to_s.include?("b") || len
    raise Errno::EINVAL, "Invalid argument" if offset && offset < 0
    s = s.byteslice(offset, s.bytesize) || "" if offset
    return (len > 0 && s.empty? ? nil : s.byteslice(0, len)) if len
    enc = k[:encoding] || k[:external_encoding] || (k[:mode].to_s[/:(.*)/, 1])
    s.force_encoding(enc.to_s.split(":")[0].sub(/\ABOM\|/i, "")) if enc
    s
  end
  def self.binread(name, len = nil, off = nil) = (s = read(name, len, off); s&.force_encoding(Encoding::BINARY))
  def self.write(name, data, offset = nil, mode: nil, perm: 0666, **k)
    data = data.to_s
    File.open(name, mode || (offset ? File::WRONLY | File::CREAT : "w"), perm) do |f|
      f.seek(offset) if offset
      f.write(data)
    end
  end
  def self.binwrite(name, data, *a, **k) = write(name, data, *a, **k)
  def self.readlines(name, *a, chomp: false, **k)
    File.open(name, k[:mode] || "r") { |f| f.readlines(*a, chomp: chomp) }
  end
  def self.foreach(name, *a, chomp: false, **k)
    return to_enum(:foreach, name, *a, chomp: chomp) unless block_given?
    File.open(name) { |f| f.each_line(*a, chomp: chomp) { |l| yield l } }
    nil
  end
  def self.copy_stream(from, to, len = nil, off = nil)
    data = from.respond_to?(:read) ? from.read(len) || "" : read(from, len, off) || ""
    to.respond_to?(:write) ? to.write(data) : File.write(to, data, mode: "wb")
    data.bytesize
  end
  def self.popen(*args, **opts)
    env = Hash === args[0] ? args.shift : nil
    cmd, mode = args
    mode ||= "r"
    if mode.to_s =~ /[w+]/
      require "stringio"
      io = Fed.new(cmd, env, opts)
      return io unless block_given?
      v = yield io
      io.close
      return v
    end
    cmd = cmd.map { |c| Array(c)[0].to_s } if Array === cmd
    r = Process.__run(cmd, env, opts[:chdir], nil, opts[:err] == [:child, :out])
    $stderr.write(r[1])
    require "stringio"
    io = StringIO.new(r[0])
    io.define_singleton_method(:pid) { r[4] }
    io.define_singleton_method(:close) { Process.__status(r); super() }
    return io unless block_given?
    v = yield io
    Process.__status(r)
    v
  end
  # A command that is fed: it runs when its input is closed or its output is asked for.
  class Fed
    def initialize(cmd, env, opts)
      @cmd, @env, @o, @in = (Array === cmd ? cmd.map { |c| Array(c)[0].to_s } : cmd), env, opts, +""
    end
    def write(*a) = (a.each { |x| @in << x.to_s }; a.sum { |x| x.to_s.bytesize })
    def <<(x) = (write(x); self)
    def puts(*a) = (s = StringIO.new(@in, "a"); s.puts(*a))
    def print(*a) = (a.each { |x| write(x) }; nil)
    def flush = self
    def sync=(v)
      v
    end
    def __go
      return @out if @out
      @r = Process.__run(@cmd, @env, @o[:chdir], @in, @o[:err] == [:child, :out])
      $stderr.write(@r[1])
      @out = StringIO.new(@r[0])
    end
    def close_write = (__go; nil)
    def pid = (__go; @r[4])
    def close = (o = __go; $stdout.write(o.read) if false; Process.__status(@r); nil)
    def closed? = false
    def method_missing(m, *a, **k, &b) = __go.__send__(m, *a, **k, &b)
    def respond_to_missing?(m, p = false) = StringIO.method_defined?(m)
  end
  def self.pipe
    require "stringio"
    s = "".b
    a = [StringIO.new(s, "r"), StringIO.new(s, "a")]
    block_given? ? yield(*a) : a
  end
  def self.select(r, w = nil, e = nil, t = nil) = [r || [], w || [], []]
  def self.try_convert(o) = IO === o ? o : (o.respond_to?(:to_io) ? o.to_io : nil)
  def to_io = self
  def to_i = fileno
  def <<(v) = (write(v); self)
  def print(*a)
    a = [$_] if a.empty?
    a.each_with_index { |v, i| write($,) if i > 0 && $,; write(v) }
    write($\) if $\
    nil
  end
  def printf(f, *a) = (write(format(f, *a)); nil)
  def putc(c) = (write(String === c ? c[0] : (Array.__to_int(c) & 255).chr); c)
  def syswrite(s) = (n = write(s); flush; n)
  def write_nonblock(s, **k) = syswrite(s)
  def pwrite(s, off) = (o = pos; self.pos = off; n = write(s); self.pos = o; n)
  def sync = fileno < 3 || __sync
  def sync=(v)
    self.__sync = v
  end
  def binmode = self
  def binmode? = false
  def set_encoding(*a) = self
  def set_encoding_by_bom = nil
  def external_encoding = (__writable && !__readable ? nil : Encoding::UTF_8)
  def internal_encoding = nil
  def fcntl(*) = 0
  def close_on_exec=(v)
    v
  end
  def close_on_exec? = true
  def autoclose? = @autoclose != false
  def autoclose=(v)
    @autoclose = !!v
  end
  def pid = nil
  def close_read = nil
  def close_write = nil
  def eof? = __data == 0
  def eof = eof?
  def read(len = nil, buf = nil)
    if len
      len = Array.__to_int(len)
      raise ArgumentError, "negative length #{len} given" if len < 0
      s = __take(len).force_encoding(Encoding::BINARY)
      s = nil if s.empty? && len > 0
    else
      s = __take(nil)
    end
    return s unless buf
    buf.replace(s || "")
    s && buf
  end
  def sysread(len, buf = nil) = read(len, buf) || raise(EOFError, "end of file reached")
  def readpartial(len, buf = nil) = read(len, buf) || raise(EOFError, "end of file reached")
  def read_nonblock(len, buf = nil, **k) = readpartial(len, buf)
  def pread(len, off)
    o = pos
    self.pos = off
    s = read(len)
    self.pos = o
    s || raise(EOFError, "end of file reached")
  end
  def __seplim(a)
    return [$/, nil] if a.empty?
    if a.size == 1
      return [nil, nil] if a[0].nil?
      return [$/, a[0]] if Integer === a[0]
      return [a[0].to_str, nil] if a[0].respond_to?(:to_str)
      return [$/, Array.__to_int(a[0])]
    end
    [a[0].nil? ? nil : a[0].to_str, a[1].nil? ? nil : Array.__to_int(a[1])]
  end
  private :__seplim
  def gets(*a, chomp: false)
    sep, lim = __seplim(a)
    return (__data; "") if lim == 0
    lim = nil if lim && lim < 0
    l = __line(sep, lim)
    l = l.chomp(sep.nil? ? nil : (sep.empty? ? "\n" : sep)) if l && chomp && sep
    $_ = l
    l
  end
  def readline(*a, chomp: false) = gets(*a, chomp: chomp) || raise(EOFError, "end of file reached")
  def readlines(*a, chomp: false)
    sep, lim = __seplim(a)
    raise ArgumentError, "invalid limit: 0 for readlines" if lim == 0
    r = []
    while (l = gets(*a, chomp: chomp))
      r << l
    end
    $_ = nil
    r
  end
  def each_line(*a, chomp: false)
    return to_enum(:each_line, *a, chomp: chomp) unless block_given?
    sep, lim = __seplim(a)
    raise ArgumentError, "invalid limit: 0 for each_line" if lim == 0
    while (l = gets(*a, chomp: chomp))
      yield l
    end
    self
  end
  def each(*a, **k, &b) = b ? each_line(*a, **k, &b) : to_enum(:each, *a, **k)
  def getc
    s = __take(1)
    return nil if s.empty?
    s << __take(1) until s.valid_encoding? || s.bytesize > 4 || eof?
    s
  end
  def readchar = getc || raise(EOFError, "end of file reached")
  def getbyte = (s = __take(1); s.empty? ? nil : s.getbyte(0))
  def readbyte = getbyte || raise(EOFError, "end of file reached")
  def each_byte = block_given? ? ((while (b = getbyte); yield b; end); self) : to_enum(:each_byte)
  def each_char = block_given? ? ((while (c = getc); yield c; end); self) : to_enum(:each_char)
  def ungetc(c) = (self.pos = [pos - (String === c ? c.bytesize : 1), 0].max; nil)
  def ungetbyte(c) = ungetc(c)
  def seek(n, whence = 0)
    n = Array.__to_int(n)
    case whence
    when 0, :SET then self.pos = n
    when 1, :CUR then self.pos = pos + n
    else self.pos = __size + n
    end
    0
  end
  def sysseek(n, w = 0) = (seek(n, w); pos)
  def rewind = (self.pos = 0; self.lineno = 0 if __readable; 0)
  def stat = File.stat(__path)
  def reopen(o, mode = nil)
    o = o.to_io if !(IO === o) && o.respond_to?(:to_io)
    __reopen(IO === o ? o : File.new(o, mode || (fileno == 0 ? "r" : "w")))
  end
  def winsize = [24, 80]
end
