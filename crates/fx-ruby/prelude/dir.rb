class Dir
  attr_reader :path
  alias to_path path
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
  def fileno
    __chk
    raise NotImplementedError, "fileno() function is unimplemented on this machine"
  end
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
    def entries(p, encoding: nil) = __named([".", ".."] + __list(File.__p(p)), encoding)
    def children(p, encoding: nil) = __named(__list(File.__p(p)), encoding)
    def each_child(p, **k, &b) = b ? (children(p, **k).each(&b); nil) : to_enum(:each_child, p, **k)
    def foreach(p, **k, &b) = b ? (entries(p, **k).each(&b); nil) : to_enum(:foreach, p, **k)
    def home(user = nil)
      return __home_of(user.to_s) if user
      ENV["HOME"]&.dup || (row = Process.__users.find { |x| x[2] == Process.uid }) && row[4] || File.expand_path("~")
    end
    # Names in the encoding that is wanted of them, and in the one that all text is wanted in.
    def __named(list, encoding)
      inside = Encoding.default_internal
      return list unless encoding || inside
      list.map do |name|
        name = name.dup.force_encoding(encoding) if encoding
        inside ? name.encode(inside) : name
      end
    end
    def __home_of(name)
      row = Process.__users.find { |x| x[0] == name } or raise ArgumentError, "user #{name} doesn't exist"
      row[4]
    end
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
    def [](*pats, base: nil, sort: true) = glob(pats.flatten, base: base, sort: sort)
    def glob(pat, positional = 0, flags: positional, base: nil, sort: true, &b)
      raise ArgumentError, "expected true or false as sort: #{sort.inspect}" unless true == sort || false == sort
      pats = Array === pat ? pat : [pat]
      r = pats.flat_map do |x|
        x = String === x && x.include?("\0") ? x : File.__p(x)
        raise ArgumentError, "nul-separated glob pattern is deprecated" if x.include?("\0")
        File.__braces(x).flat_map { |y| y.empty? ? [] : __glob(y, flags, base && File.__p(base)) }
      end
      return r unless b
      r.each(&b)
      nil
    end
  end
end
