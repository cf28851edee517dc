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
  def chmod(m) = (File.chmod(m, __path); 0)
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
    def rdev_major = rdev >> 8 & 0xfff
    def rdev_minor = rdev & 0xff | rdev >> 12 & 0xfff00
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
    def inspect
      "#<File::Stat dev=0x#{dev.to_s(16)}, ino=#{ino}, mode=0#{mode.to_s(8)}, nlink=#{nlink}, uid=#{uid}, " \
        "gid=#{gid}, rdev=0x#{rdev.to_s(16)}, size=#{size}, blksize=#{blksize}, blocks=#{blocks}, " \
        "atime=#{atime.inspect}, mtime=#{mtime.inspect}, ctime=#{ctime.inspect}>"
    end
  end
  class << self
    def __s(p, call = nil)
      p = p.to_io if !(IO === p) && !(String === p) && !p.respond_to?(:to_path) && p.respond_to?(:to_io)
      return p.stat if IO === p && !p.respond_to?(:path)
      p = p.path if IO === p
      a = __stat(__p(p), call)
      a && Stat.new(a)
    end
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
    %i[
      file? directory? pipe? socket? chardev? blockdev? zero? size? setuid? setgid? sticky? owned?
      grpowned? readable? writable? executable? readable_real? writable_real? executable_real?
      world_readable? world_writable?
    ].each do |m|
      define_method(m) do |p|
        (s = __s(p)) ? s.__send__(m) : (%i[size? world_readable? world_writable?].include?(m) ? nil : false)
      end
    end
    alias empty? zero?
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
      suffix = String.__str(suffix)
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
    def split(p) = (p = __p(p); [dirname(p), basename(p)])
    def join(*parts)
      flat = lambda do |a, seen|
        a.flat_map do |x|
          next [__p(x)] unless Array === x
          next [""] if x.empty?
          raise ArgumentError, "recursive array" if seen.include?(x.object_id)
          flat.(x, seen + [x.object_id])
        end
      end
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
        home = if name.empty?
                 ENV["HOME"] || raise(ArgumentError, "couldn't find HOME environment -- expanding '~'")
               else
                 Dir.__home_of(name)
               end
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
    def fnmatch(pat, path, flags = 0)
      unless pat.respond_to?(:to_str)
        raise TypeError, "no implicit conversion of #{pat.class} into String"
      end
      __fnmatch(pat.to_str, __p(path), Array.__to_int(flags))
    end
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
            pat[start + 1...i].each_char do |x|
              d += 1 if x == "{"
              d -= 1 if x == "}"
              x == "," && d == 0 ? parts << "" : parts[-1] += x
            end
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
  %i[
    exist? exists? file? directory? symlink? readable? writable? executable? size size? zero?
    empty? pipe? socket? owned? identical? blockdev? chardev? grpowned? setuid? setgid? sticky?
    readable_real? writable_real? executable_real? world_readable? world_writable?
  ].each do |m|
    define_singleton_method(m) { |*a| File.__send__(m, *a) }
    define_method(m) { |*a| File.__send__(m, *a) }
  end
  class << self
    alias empty? zero?
  end
  alias empty? zero?
end
