class Pathname
  SEPARATOR_LIST = "/"
  SEPARATOR_PAT = /\//
  def self.pwd = new(Dir.pwd)
  def self.getwd = pwd
  def self.glob(*a, **k) = (r = Dir.glob(*a, **k).map { |x| new(x) }; block_given? ? r.each { |x| yield x } : r)
  def initialize(p)
    p = p.to_path if p.respond_to?(:to_path) && !(String === p)
    raise TypeError, "no implicit conversion of #{p.nil? ? "nil" : p.class} into String" unless p.respond_to?(:to_str)
    raise ArgumentError, "pathname contains null byte" if p.include?("\0")
    @path = p.to_str.dup
  end
  def to_s = @path.dup
  alias to_path to_s
  def ==(o) = Pathname === o && @path == o.to_s
  alias === ==
  alias eql? ==
  def <=>(o) = Pathname === o ? @path.tr("/", "\0") <=> o.to_s.tr("/", "\0") : nil
  def hash = @path.hash
  def inspect = "#<Pathname:#{@path}>"
  def freeze = (@path.freeze; super)
  def sub(*a, &b) = self.class.new(b ? @path.sub(*a, &b) : @path.sub(*a))
  def sub_ext(e) = self.class.new(@path.delete_suffix(File.extname(@path)) + e)
  def absolute? = @path.start_with?("/")
  def relative? = !absolute?
  def root? = @path.match?(%r{\A/+\z})
  def +(o)
    o = Pathname.new(o) unless Pathname === o
    self.class.new(plus(@path, o.to_s))
  end
  alias / +
  def plus(a, b)
    return b if b.start_with?("/")
    pre = b
    parts = []
    idx = b.split("/")
    base = a
    while idx.first == ".." || idx.first == "."
      if idx.first == "."
        idx.shift
        next
      end
      break if base == "." && false
      dir, last = File.split(base)
      break if last == ".." || (base == "." )
      if base == "/" then idx.shift
      else
        idx.shift
        base = dir == "." && !base.include?("/") ? "" : dir
        if base.empty?
          base = "."
          break unless idx.first == "." 
        end
      end
    end
    rest = idx.join("/")
    return base if rest.empty?
    base == "." || base.empty? ? rest : File.join(base, rest)
  end
  private :plus
  def join(*a)
    return self if a.empty?
    r = Pathname.new(a.pop)
    return r if r.absolute?
    a.reverse_each { |x| r = Pathname.new(x) + r; return r if r.absolute? }
    self + r
  end
  def parent = self + ".."
  def cleanpath(consider = false)
    abs = absolute?
    out = []
    @path.split("/").each do |x|
      next if x.empty? || x == "."
      if x == ".." && !out.empty? && out.last != ".." then out.pop
      elsif x == ".." && abs then next
      else out << x
      end
    end
    s = out.join("/")
    self.class.new(abs ? "/" + s : (s.empty? ? "." : s))
  end
  def relative_path_from(base)
    base = Pathname.new(base) unless Pathname === base
    d, b = cleanpath.to_s, base.cleanpath.to_s
    if d.start_with?("/") != b.start_with?("/")
      raise ArgumentError, "different prefix: #{d.start_with?("/") ? "/" : ""} and #{base}"
    end
    x, y = d.split("/").reject { |z| z.empty? || z == "." }, b.split("/").reject { |z| z.empty? || z == "." }
    while !x.empty? && x[0] == y[0]
      x.shift
      y.shift
    end
    raise ArgumentError, "base_directory has ..: #{base}" if y.include?("..")
    r = [".."] * y.size + x
    self.class.new(r.empty? ? "." : r.join("/"))
  end
  def each_filename(&b) = b ? @path.split("/").reject(&:empty?).each(&b) : to_enum(:each_filename)
  def descend(&b)
    a = []
    ascend { |x| a.unshift(x) }
    b ? a.each(&b) : a.each
  end
  def ascend
    return to_enum(:ascend) unless block_given?
    p = @path
    loop do
      yield self.class.new(p)
      d = File.dirname(p)
      break if d == p || (d == "." && !p.start_with?("."))
      p = d
    end
  end
  def children(with = true)
    Dir.children(@path).map { |x| with && @path != "." ? self.class.new(File.join(@path, x)) : self.class.new(x) }
  end
  def each_child(w = true, &b) = children(w).each(&b)
  def entries = Dir.entries(@path).map { |x| self.class.new(x) }
  def each_entry(&b) = entries.each(&b)
  def glob(p, f = 0) = (r = Dir.glob(p, f, base: @path).map { |x| self + x }; block_given? ? r.each { |x| yield x } : r)
  def basename(*a) = self.class.new(File.basename(@path, *a))
  def dirname = self.class.new(File.dirname(@path))
  def extname = File.extname(@path)
  def expand_path(*a) = self.class.new(File.expand_path(@path, *a))
  def realpath(*a) = self.class.new(File.realpath(@path, *a))
  def realdirpath(*a) = self.class.new(File.realdirpath(@path, *a))
  def readlink = self.class.new(File.readlink(@path))
  def split = File.split(@path).map { |x| self.class.new(x) }
  %i[
    exist? file? directory? symlink? readable? writable? executable? size size? zero? stat lstat
    mtime atime ctime ftype pipe? socket? owned? world_readable? blockdev? chardev? readable_real?
    writable_real? executable_real? grpowned? setuid? setgid? sticky?
  ].each { |m| define_method(m) { File.__send__(m, @path) } }
  def empty? = File.directory?(@path) ? Dir.empty?(@path) : File.empty?(@path)
  def read(*a, **k) = File.read(@path, *a, **k)
  def binread(*a) = File.binread(@path, *a)
  def readlines(*a, **k) = File.readlines(@path, *a, **k)
  def each_line(*a, &b) = File.foreach(@path, *a, &b)
  def write(*a, **k) = File.write(@path, *a, **k)
  def binwrite(*a) = File.binwrite(@path, *a)
  def open(*a, **k, &b) = File.open(@path, *a, **k, &b)
  def opendir(&b) = Dir.open(@path, &b)
  def mkdir(*a) = Dir.mkdir(@path, *a)
  def mkpath(*) = (require "fileutils"; FileUtils.mkdir_p(@path); self)
  def rmdir = Dir.rmdir(@path)
  def rmtree(*) = (require "fileutils"; FileUtils.rm_rf(@path); self)
  def unlink = File.directory?(@path) ? Dir.unlink(@path) : File.unlink(@path)
  alias delete unlink
  def rename(o) = File.rename(@path, o.to_s)
  def chmod(m) = File.chmod(m, @path)
  def chown(u, g) = File.chown(u, g, @path)
  def make_symlink(o) = File.symlink(o.to_s, @path)
  def make_link(o) = File.link(o.to_s, @path)
  def truncate(n) = File.truncate(@path, n)
  def utime(a, m) = File.utime(a, m, @path)
  def fnmatch(p, *a) = File.fnmatch(p, @path, *a)
  def fnmatch?(p, *a) = File.fnmatch?(p, @path, *a)
  def mountpoint? = @path == "/"
  def find(&b)
    r = [self]
    walk = ->(p) { p.children.sort.each { |c| r << c; walk.(c) if c.directory? && !c.symlink? } }
    walk.(self) if directory?
    b ? r.each(&b) : r.each
  end
end
