require "fileutils"
class Dir
  def self.tmpdir = ENV["TMPDIR"] && File.directory?(ENV["TMPDIR"]) ? ENV["TMPDIR"] : "/tmp"
  module Tmpname
    def self.tmpdir = Dir.tmpdir
    def self.make(prefix, dir = nil)
      pre, suf = Array === prefix ? prefix : [prefix || "", ""]
      raise ArgumentError, "unexpected prefix: #{pre.inspect}" unless pre.respond_to?(:to_str)
      raise ArgumentError, "unexpected suffix: #{suf.inspect}" unless suf.nil? || suf.respond_to?(:to_str)
      dir = Process.__str(dir.respond_to?(:to_path) ? dir.to_path : dir) if dir
      unique = Random.urandom(5).unpack1("H*").to_i(16).to_s(36)
      name = "#{pre.to_str}#{Time.now.strftime("%Y%m%d")}-#{Process.pid}-#{unique}#{suf}"
      "#{(dir || Dir.tmpdir).sub(%r{(?<=.)/+\z}, "")}/#{name}"
    end
    def self.create(base, dir = nil, **k) = (p = make(base, dir); yield(p, nil, {}); p)
  end
  def self.mktmpdir(prefix = "d", dir = nil, **k)
    p = Tmpname.make(prefix, dir)
    Dir.mkdir(p, 0700)
    return p unless block_given?
    begin
      yield p.dup
    ensure
      FileUtils.rm_rf(p)
    end
  end
end
class Tempfile < File
  def self.create(base = "", dir = nil, mode: 0, **k)
    p = Dir::Tmpname.make(base, dir)
    f = File.open(p, File::RDWR | File::CREAT | File::EXCL, 0600)
    return f unless block_given?
    begin
      yield f
    ensure
      f.close unless f.closed?
      File.unlink(p) if File.exist?(p)
    end
  end
  def self.open(*a, **k)
    t = new(*a, **k)
    return t unless block_given?
    begin
      yield t
    ensure
      t.close
    end
  end
  def initialize(base = "", dir = nil, mode: 0, **k)
    @tmp_ = Dir::Tmpname.make(base, dir)
    super(@tmp_, File::RDWR | File::CREAT | File::EXCL, 0600)
    at_exit { File.unlink(@tmp_) if @tmp_ && File.exist?(@tmp_) }
  end
  def path = @gone_ ? nil : @tmp_
  def open = (close unless closed?; __send__(:__open, @tmp_, true, true, false, false, true, false, 0600); self)
  def close(now = false) = (super() unless closed?; unlink if now; nil)
  def close! = close(true)
  def unlink = (File.unlink(@tmp_) if !@gone_ && File.exist?(@tmp_); @gone_ = true; nil)
  alias delete unlink
  def size = closed? ? File.size(@tmp_) : (flush; super)
  alias length size
  def _close = (close unless closed?)
  protected :_close
  def inspect = "#<Tempfile:#{path}#{closed? ? " (closed)" : ""}>"
end
