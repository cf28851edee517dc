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
      return [acc != 1, acc != 0, mode & File::APPEND != 0, mode & File::TRUNC != 0, mode & File::CREAT != 0, mode & File::EXCL != 0]
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
    File.open(name, mode || (offset ? File::WRONLY | File::CREAT : "w"), perm) { |f| f.seek(offset) if offset; f.write(data) }
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
    def initialize(cmd, env, opts) = (@cmd, @env, @o, @in = (Array === cmd ? cmd.map { |c| Array(c)[0].to_s } : cmd), env, opts, +"")
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
  def putc(c) = (write(String === c ? c[0] : (c.to_int & 255).chr); c)
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
  def autoclose? = true
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
  def pread(len, off) = (o = pos; self.pos = off; s = read(len); self.pos = o; s || raise(EOFError, "end of file reached"))
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
  def getc = (s = __take(1); return nil if s.empty?; s << __take(1) until s.valid_encoding? || s.bytesize > 4 || eof?; s)
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
class File < IO
  SEPARATOR = "/"
  Separator = "/"
  ALT_SEPARATOR = nil
  PATH_SEPARATOR = ":"
  module Constants
    RDONLY = 0
    WRONLY = 1
    RDWR = 2
    APPEND = 1024
    CREAT = 64
    EXCL = 128
    NONBLOCK = 2048
    TRUNC = 512
    NOCTTY = 256
    BINARY = 0
    SHARE_DELETE = 0
    SYNC = 1052672
    DSYNC = 4096
    NOFOLLOW = 131072
    LOCK_SH = 1
    LOCK_EX = 2
    LOCK_NB = 4
    LOCK_UN = 8
    NULL = "/dev/null"
    FNM_NOESCAPE = 1
    FNM_PATHNAME = 2
    FNM_DOTMATCH = 4
    FNM_CASEFOLD = 8
    FNM_EXTGLOB = 16
    FNM_SYSCASE = 0
    FNM_SHORTNAME = 0
  end
  IO.include(Constants)
  def self.__p(v)
    v = v.to_path if !(String === v) && v.respond_to?(:to_path)
    v = v.to_str if !(String === v) && v.respond_to?(:to_str)
    raise TypeError, "no implicit conversion of #{v.nil? ? "nil" : v.class} into String" unless String === v
    raise ArgumentError, "string contains null byte" if v.include?("\0")
    v
  end
  def initialize(path, mode = nil, perm = nil, **k)
    if Integer === path
      __fd(path)
      return
    end
    p = File.__p(path)
    mode = k[:mode] if k.key?(:mode)
    f = IO.__mode(mode, k)
    f = f.zip(IO.__mode(k[:flags] | (f[1] ? (f[0] ? 2 : 1) : 0))).map { |a, b| a || b } if k[:flags]
    __open(p, f[0], f[1], f[2], f[3], f[4], f[5], (perm || k[:perm] || 0666))
    @__given = p
  end
  def path = (@__given || __path).dup
  def to_path = path
  def size = (flush; __size)
  def atime = File.atime(__path)
  def mtime = File.mtime(__path)
  def ctime = File.ctime(__path)
  def lstat = File.lstat(__path)
  def chmod(m) = File.chmod(m, __path)
  def chown(u, g) = File.chown(u, g, __path)
  class Stat
    include Comparable
    def initialize(p, follow = true)
      @a = (String === p || !(Array === p)) ? (follow ? File.__stat(File.__p(p)) : File.__lstat(File.__p(p))) : p
      raise Errno::ENOENT.new(p, "rb_stat_init") unless @a
    end
    %i[ftype mode uid gid size dev ino nlink rdev blocks].each_with_index { |n, i| define_method(n) { @a[i] } }
    def atime = Time.at(@a[10], @a[11], :nsec)
    def mtime = Time.at(@a[12], @a[13], :nsec)
    def ctime = Time.at(@a[14], @a[15], :nsec)
    def birthtime = ctime
    def file? = ftype == "file"
    def directory? = ftype == "directory"
    def symlink? = ftype == "link"
    def pipe? = ftype == "fifo"
    def socket? = ftype == "socket"
    def chardev? = ftype == "characterSpecial"
    def blockdev? = ftype == "blockSpecial"
    def blksize = 4096
    def dev_major = dev >> 8
    def dev_minor = dev & 255
    def zero? = size == 0
    def size? = size == 0 ? nil : size
    def setuid? = mode & 04000 != 0
    def setgid? = mode & 02000 != 0
    def sticky? = mode & 01000 != 0
    def owned? = uid == Process.euid
    def grpowned? = gid == Process.egid
    def __acc(bit)
      return bit != 1 || directory? || mode & 0111 != 0 if Process.euid == 0
      return mode & (bit << 6) != 0 if owned?
      return mode & (bit << 3) != 0 if grpowned?
      mode & bit != 0
    end
    def readable? = __acc(4)
    def writable? = __acc(2)
    def executable? = __acc(1)
    def readable_real? = readable?
    def writable_real? = writable?
    def executable_real? = executable?
    def world_readable? = mode & 4 != 0 ? mode & 0777 : nil
    def world_writable? = mode & 2 != 0 ? mode & 0777 : nil
    def <=>(o) = Stat === o ? mtime <=> o.mtime : nil
    def inspect = "#<File::Stat dev=0x#{dev.to_s(16)}, ino=#{ino}, mode=0#{mode.to_s(8)}, nlink=#{nlink}, uid=#{uid}, gid=#{gid}, rdev=0x#{rdev.to_s(16)}, size=#{size}, blksize=#{blksize}, blocks=#{blocks}, atime=#{atime.inspect}, mtime=#{mtime.inspect}, ctime=#{ctime.inspect}>"
  end
  class << self
    def __s(p, call = nil) = (p = p.to_io.path if IO === p; a = __stat(__p(p), call); a && Stat.new(a))
    def __need(p, what)
      call = "rb_file_s_#{what}"
      __s(p, call) || raise(Errno::ENOENT.new(p.respond_to?(:path) ? p.path : __p(p), call))
    end
    def stat(p) = __need(p, :stat)
    def __lneed(p, what)
      call = "rb_file_s_#{what}"
      (a = __lstat(__p(p), call)) ? Stat.new(a) : raise(Errno::ENOENT.new(__p(p), call))
    end
    def lstat(p) = __lneed(p, :lstat)
    def exist?(p) = !__s(p).nil?
    %i[file? directory? pipe? socket? chardev? blockdev? zero? size? setuid? setgid? sticky? owned? grpowned? readable? writable? executable? readable_real? writable_real? executable_real? world_readable? world_writable?].each do |m|
      define_method(m) { |p| (s = __s(p)) ? s.__send__(m) : (%i[size? world_readable? world_writable?].include?(m) ? nil : false) }
    end
    def empty?(p) = zero?(p)
    def symlink?(p) = (a = __lstat(__p(p))) ? a[0] == "link" : false
    def size(p) = __need(p, :size).size
    def ftype(p) = __lneed(p, :ftype).ftype
    def atime(p) = __need(p, :atime).atime
    def mtime(p) = __need(p, :mtime).mtime
    def ctime(p) = __need(p, :ctime).ctime
    def birthtime(p) = __need(p, :birthtime).birthtime
    def exists?(p) = exist?(p)
    def identical?(a, b) = (x = __s(a)) && (y = __s(b)) ? x.ino == y.ino && x.dev == y.dev : false
    def unlink(*ps) = (ps.each { |p| __unlink(__p(p)) }; ps.size)
    alias delete unlink
    def rename(a, b) = __rename(__p(a), __p(b))
    def symlink(a, b) = __symlink(__p(a), __p(b))
    def link(a, b) = __link(__p(a), __p(b))
    def readlink(p) = __readlink(__p(p))
    def realpath(p, dir = nil) = __realpath(dir ? File.expand_path(__p(p), __p(dir)) : __p(p))
    def realdirpath(p, dir = nil)
      full = File.expand_path(__p(p), dir && __p(dir))
      exist?(full) ? __realpath(full) : join(__realpath(dirname(full)), basename(full))
    end
    def chmod(m, *ps) = (m = Array.__to_int(m); ps.each { |p| __chmod(__p(p), m) }; ps.size)
    def lchmod(m, *ps) = raise(NotImplementedError, "lchmod() function is unimplemented on this machine")
    def chown(u, g, *ps) = (ps.each { |p| __chown(__p(p), u, g) }; ps.size)
    def lchown(u, g, *ps) = (ps.each { |p| __lchown(__p(p), u, g) }; ps.size)
    def utime(a, m, *ps)
      a = a.nil? ? Time.now : Time.at(a)
      m = m.nil? ? Time.now : Time.at(m)
      ps.each { |p| __utime(__p(p), a.to_i, a.nsec, m.to_i, m.nsec) }
      ps.size
    end
    def lutime(a, m, *ps)
      a = a.nil? ? Time.now : Time.at(a)
      m = m.nil? ? Time.now : Time.at(m)
      ps.each { |p| __lutime(__p(p), a.to_i, a.nsec, m.to_i, m.nsec) }
      ps.size
    end
    def mkfifo(p, m = 0666) = __mkfifo(__p(p), m)
    def truncate(p, n)
      n = Array.__to_int(n)
      raise Errno::EINVAL.new(__p(p), "rb_file_s_truncate") if n < 0
      __truncate(__p(p), n)
    end
    def path(p) = __p(p).dup
    def basename(p, suffix = nil)
      p = __p(p)
      return p.dup if p.empty?
      b = p.sub(%r{/+\z}, "")
      return "/" if b.empty?
      b = b[(b.rindex("/") || -1) + 1..]
      return b unless suffix
      suffix = suffix.to_str
      return b.sub(/(.)\.[^.]*\z/m, '\1') if suffix == ".*" && b =~ /.\.[^.]+\z/m
      suffix != b && !suffix.empty? && b.end_with?(suffix) ? b[0, b.size - suffix.size] : b
    end
    def dirname(p, level = 1)
      p = __p(p)
      raise ArgumentError, "negative level: #{level}" if level < 0
      level.times do
        q = p.sub(%r{/+\z}, "")
        return (p.start_with?("/") ? "/" : ".") if q.empty?
        i = q.rindex("/")
        return "." unless i
        q = q[0, i].sub(%r{/+\z}, "")
        p = q.empty? ? "/" : q
      end
      p
    end
    def extname(p)
      b = basename(p)
      return "" if b.start_with?(".") && b.count(".") == 1
      i = b.rindex(".")
      return "" if i.nil? || i == 0 || b[0, i].delete(".").empty?
      b[i..]
    end
    def split(p) = [dirname(p), basename(p)]
    def join(*parts)
      flat = ->(a, seen) { a.flat_map { |x| Array === x ? (seen.include?(x.object_id) ? raise(ArgumentError, "recursive array") : flat.(x, seen + [x.object_id])) : [__p(x)] } }
      parts = flat.(parts, [])
      return "" if parts.empty?
      r = parts.shift.dup
      parts.each do |x|
        if r.end_with?("/") && x.start_with?("/") then r = r.sub(%r{/+\z}, "") + x
        elsif r.end_with?("/") || x.start_with?("/") then r += x
        else r = r + "/" + x
        end
      end
      r
    end
    def expand_path(p, dir = nil)
      p = __p(p)
      if p.start_with?("~")
        name = p[/\A~([^\/]*)/, 1]
        home = name.empty? ? (ENV["HOME"] || raise(ArgumentError, "couldn't find HOME environment -- expanding '~'")) : ((u = Process.__users.find { |x| x[0] == name }) ? u[4] : raise(ArgumentError, "user #{name} doesn't exist"))
        raise ArgumentError, "non-absolute home" unless home.start_with?("/")
        p = home + p[(name.size + 1)..]
      elsif !p.start_with?("/")
        p = (dir ? expand_path(dir) : Dir.pwd) + "/" + p
      end
      __absolute(p)
    end
    def absolute_path(p, dir = nil)
      p = __p(p)
      p = (dir ? absolute_path(dir) : Dir.pwd) + "/" + p unless p.start_with?("/")
      __absolute(p)
    end
    def absolute_path?(p) = __p(p).start_with?("/")
    def fnmatch(pat, path, flags = 0) = __fnmatch(pat.respond_to?(:to_str) ? pat.to_str : raise(TypeError, "no implicit conversion of #{pat.class} into String"), __p(path), Array.__to_int(flags))
    alias fnmatch? fnmatch
    def __braces(pat)
      return [pat] unless pat.include?("{")
      depth = 0
      start = nil
      pat.each_char.with_index do |c, i|
        if c == "{" then start = i if depth == 0; depth += 1
        elsif c == "}" && depth > 0
          depth -= 1
          if depth == 0
            parts = [""]
            d = 0
            pat[start + 1...i].each_char { |x| d += 1 if x == "{"; d -= 1 if x == "}"; x == "," && d == 0 ? parts << "" : parts[-1] += x }
            return parts.flat_map { |x| __braces(pat[0, start] + x + pat[i + 1..]) }
          end
        end
      end
      [pat]
    end
    def __glob_re(pat, flags)
      pathname = flags & 2 != 0
      any = pathname ? "[^/]" : "."
      dot = flags & 4 != 0
      re = +"\\A"
      i = 0
      at_start = true
      while i < pat.size
        c = pat[i]
        nodot = at_start && !dot ? "(?!\\.)" : ""
        was = at_start
        at_start = false
        case c
        when "*"
          if pathname && was && pat[i, 3] == "**/"
            re << (dot ? "(?:[^/]+/)*" : "(?:(?!\\.)[^/]+/)*")
            i += 2
            i += 3 while pat[i + 1, 3] == "**/"
            at_start = true
          else
            i += 1 while pat[i + 1] == "*"
            re << nodot << any << "*"
          end
        when "?" then re << nodot << any
        when "["
          j = pat.index("]", i + 2)
          if j
            set = pat[i + 1...j]
            neg = set.start_with?("!", "^")
            set = set[1..] if neg
            re << nodot << (pathname ? "(?!/)" : "") << "[#{neg ? "^" : ""}#{set.gsub(/[\[\\&]/) { "\\#{$&}" }}]"
            i = j
          else
            re << "(?!)"
          end
        when "\\"
          if flags & 1 == 0 && i + 1 < pat.size
            i += 1
            re << Regexp.escape(pat[i])
          else
            re << "\\\\"
          end
        when "/" then re << "/"; at_start = pathname
        else re << Regexp.escape(c)
        end
        i += 1
      end
      Regexp.new(re + "\\z", (flags & 8 != 0 ? 1 : 0) | 4)
    end
    def __fnmatch(pat, path, flags)
      pats = flags & 16 != 0 ? __braces(pat) : [pat]
      pats.any? { |x| __glob_re(x, flags).match?(path) }
    end
  end
end
module FileTest
  %i[exist? exists? file? directory? symlink? readable? writable? executable? size size? zero? empty? pipe? socket? owned? identical? blockdev? chardev? grpowned? setuid? setgid? sticky? readable_real? writable_real? executable_real? world_readable? world_writable?].each do |m|
    define_singleton_method(m) { |*a| File.__send__(m, *a) }
    define_method(m) { |*a| File.__send__(m, *a) }
  end
end
class Dir
  include Enumerable
  attr_reader :path
  def to_path = @path
  def initialize(p, **k)
    @path = File.__p(p)
    @list = [".", ".."] + Dir.__list(@path)
    @pos = 0
    @closed = false
  end
  def __open! = raise(IOError, "uninitialized Dir") if false
  def __chk = (raise IOError, "closed directory" if @closed)
  def read = (__chk; @pos += 1; @list[@pos - 1])
  def each = block_given? ? (__chk; (while (e = read); yield e; end); self) : to_enum(:each)
  def children = (__chk; r = []; while (e = read); r << e unless e == "." || e == ".."; end; r)
  def each_child(&b) = b ? (children.each(&b); self) : to_enum(:each_child)
  def pos = (__chk; @pos)
  alias tell pos
  def pos=(n)
    @pos = n
  end
  def seek(n) = (@pos = n; self)
  def rewind = (__chk; @pos = 0; self)
  def close = (@closed = true; nil)
  def fileno = raise(NotImplementedError, "fileno() function is unimplemented on this machine")
  def inspect = "#<Dir:#{@path}>"
  class << self
    def open(p, **k)
      d = new(p)
      return d unless block_given?
      begin
        yield d
      ensure
        d.close
      end
    end
    def mkdir(p, mode = 0777) = __mkdir(File.__p(p), Array.__to_int(mode))
    def exists?(p) = exist?(p)
    def rmdir(p) = __rmdir(File.__p(p))
    alias delete rmdir
    alias unlink rmdir
    alias unlink delete
    def exist?(p) = File.directory?(p)
    def empty?(p) = (p = File.__p(p); File.directory?(p) && __list(p).empty?)
    def entries(p, **k) = [".", ".."] + __list(File.__p(p))
    def children(p, **k) = __list(File.__p(p))
    def each_child(p, **k, &b) = b ? (children(p).each(&b); nil) : to_enum(:each_child, p)
    def foreach(p, **k, &b) = b ? (entries(p).each(&b); nil) : to_enum(:foreach, p)
    def home(user = nil) = user ? ((u = Process.__users.find { |x| x[0] == user.to_s }) ? u[4] : raise(ArgumentError, "user #{user} doesn't exist")) : (ENV["HOME"] || File.expand_path("~"))
    def chdir(p = nil)
      p = p.nil? ? (ENV["HOME"] || ENV["LOGDIR"] || raise(ArgumentError, "HOME/LOGDIR not set")) : File.__p(p)
      old = pwd
      __chdir(p)
      return 0 unless block_given?
      begin
        yield p
      ensure
        __chdir(old)
      end
    end
    def [](*pats, base: nil, sort: true) = glob(pats.flatten, base: base)
    def glob(pat, flags = 0, base: nil, sort: true, &b)
      pats = Array === pat ? pat : [pat]
      r = pats.flat_map { |x| x = File.__p(x); raise ArgumentError, "nul-separated glob pattern is deprecated" if x.include?("\0"); File.__braces(x).flat_map { |y| y.empty? ? [] : __glob(y, flags, base && File.__p(base)) } }
      return r unless b
      r.each(&b)
      nil
    end
  end
end
