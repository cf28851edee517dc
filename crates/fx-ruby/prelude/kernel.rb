module Kernel
  # What Ruby 3.1 still has and no longer heeds.
  def taint = self
  alias untaint taint
  alias trust taint
  alias untrust taint
  def tainted? = false
  alias untrusted? tainted?
  def instance_variable_names = instance_variables.map(&:to_s)
  def pp(*objs) = (require "pp"; pp(*objs))
  def `(cmd)
    cmd = Process.__str(cmd)
    r = Process.__run(cmd, nil, nil, nil, false)
    $stderr.write(r[1]) unless r[1].empty?
    Process.__status(r)
    r[0]
  end
  def system(*args, exception: false, **opts)
    begin
      r = Process.__redirected(args, opts)
    rescue SystemCallError
      raise if exception
      Process.__status([nil, nil, 127, nil, 0])
      return nil
    end
    Process.__status(r)
    cmd = args.find { |a| !(Hash === a) }
    if r[2] == 127 && args.last.equal?(cmd) && !(Array === cmd)
      raise Errno::ENOENT, cmd if exception
      return nil
    end
    raise "Command failed with exit #{r[2]}: #{Array(cmd)[0].to_s.split[0]}" if exception && r[2] != 0
    r[2] == 0
  end
  def spawn(*args, **opts) = Process.spawn(*args, **opts)
  def exec(*args, **opts)
    Process.__status(Process.__redirected(args, opts))
    exit($?.exitstatus || 1)
  end
  def trap(sig, cmd = nil, &block) = Signal.trap(sig, cmd, &block)
  def trace_var(name, command = nil, &block)
    hook = block || command
    raise ArgumentError, "tried to create Proc object without a block" if hook.nil? && !block
    hook = TOPLEVEL_BINDING.then { |b| ->(*) { b.eval(command) } } if String === hook
    (__traced[name.to_sym] ||= []).unshift(hook)
    nil
  end
  def untrace_var(name, command = nil)
    list = __traced[name.to_sym] || []
    return __traced.delete(name.to_sym) || [] unless command
    list.delete(command) ? [command] : nil
  end
  def test(c, f, g = nil)
    case c.is_a?(String) ? c : c.chr
    when "f" then File.file?(f)
    when "d" then File.directory?(f)
    when "e" then File.exist?(f)
    when "r" then File.readable?(f)
    when "R" then File.readable_real?(f)
    when "w" then File.writable?(f)
    when "W" then File.writable_real?(f)
    when "s" then File.size?(f)
    when "l" then File.symlink?(f)
    when "x" then File.executable?(f)
    when "X" then File.executable_real?(f)
    when "z" then File.zero?(f)
    when "o", "O" then File.owned?(f)
    when "p" then File.pipe?(f)
    when "S" then File.socket?(f)
    when "b" then File.blockdev?(f)
    when "c" then File.chardev?(f)
    when "u" then File.setuid?(f)
    when "g" then File.setgid?(f)
    when "k" then File.sticky?(f)
    when "A" then File.atime(f)
    when "C" then File.ctime(f)
    when "M" then File.mtime(f)
    when "=" then File.mtime(f) == File.mtime(g)
    when "<" then File.mtime(f) < File.mtime(g)
    when ">" then File.mtime(f) > File.mtime(g)
    when "-" then File.identical?(f, g)
    else raise ArgumentError, "unknown command"
    end
  end
  def open(path, *rest, **kw, &block)
    if !path.is_a?(String) && path.respond_to?(:to_open)
      return block ? block.call(path.to_open(*rest, **kw)) : path.to_open(*rest, **kw)
    end
    p = File.__p(path)
    return IO.popen(p[1..], *rest, &block) if p.start_with?("|")
    File.open(path, *rest, **kw, &block)
  end
  def readlines(*a) = $stdin.readlines(*a)
  def readline(*a) = $stdin.readline(*a)
  def select(r, w = nil, e = nil, t = nil) = IO.select(r, w, e, t)
  # Where gems are not looked for, what ships stands for them.
  def gem(name, *wanted) = __gems? ? Gem.__require(name.to_s, wanted) : true
  # `ruby -n`: the line that was read last is what these are about.
  def __line_mode
    %i[chomp chop sub gsub].each do |name|
      Kernel.module_eval do
        define_method(name) { |*args, &block| $_ = $_.__send__(name, *args, &block) }
        module_function name
      end
    end
  end
  def Rational(a, b = 1, exception: true) = Rational.__convert(a, b, exception)
  def Complex(a, b = Complex.__none, exception: true) = Complex.__convert(a, b, exception)
  def Pathname(p) = (require "pathname"; Pathname === p ? p : Pathname.new(p))
  def BigDecimal(*a, **k) = (require "bigdecimal"; BigDecimal.__new(*a, **k))
  def URI(s) = (require "uri"; URI.__of(s))
  private :trace_var, :untrace_var, :pp, :`, :system, :spawn, :exec, :trap, :test, :open, :readlines, :readline,
      :select, :gem, :Rational,
    :Complex, :Pathname, :BigDecimal, :URI
  class << self
    %i[
      trace_var untrace_var ` system spawn exec trap test open readlines readline select gem Rational Complex
      Pathname pp
    ].each { |m| define_method(m) { |*a, **k, &b| Object.new.__send__(m, *a, **k, &b) } }
  end
end
class Thread
  module Backtrace
    class Location
      def to_s = @line
      def inspect = @line.inspect
      def path = @line[/\A(.*?):\d+/, 1]
      def absolute_path = File.expand_path(path)
      def lineno = @line[/:(\d+):?/, 1].to_i
      def label = @line[/in `(.*)'/, 1]
      def base_label = label.to_s.sub(/\A(block|rescue|ensure) .*in /, "")
    end
  end
end
