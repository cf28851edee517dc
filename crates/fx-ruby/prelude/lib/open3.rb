module Open3
  def self.__go(args, opts, merge)
    env = Hash === args[0] ? args.shift : nil
    cmd = args.size == 1 && String === args[0] ? args[0] : args.map { |x| Array === x ? x[0] : x.to_s }
    input = opts[:stdin_data]
    input = "" if input.nil?
    r = Process.__run(cmd, env, opts[:chdir] && opts[:chdir].to_s, input.to_s, merge)
    [r, Process.__status(r)]
  end
  def self.capture3(*a, **o) = (r, s = __go(a, o, false); [r[0], r[1], s])
  def self.capture2(*a, **o) = (r, s = __go(a, o, false); $stderr.write(r[1]); [r[0], s])
  def self.capture2e(*a, **o) = (r, s = __go(a, o, true); [r[0], s])
  class Waiter
    def initialize(s) = @s = s
    def value = @s
    def pid = @s.pid
    def join(*) = self
    def alive? = false
    def [](k) = k == :pid ? pid : nil
  end
  def self.popen3(*a, **o)
    require "stringio"
    r, s = __go(a, o, false)
    list = [StringIO.new, StringIO.new(r[0]), StringIO.new(r[1]), Waiter.new(s)]
    block_given? ? yield(*list) : list
  end
  def self.popen2(*a, **o) = (require "stringio"; r, s = __go(a, o, false); l = [StringIO.new, StringIO.new(r[0]), Waiter.new(s)]; block_given? ? yield(*l) : l)
  def self.popen2e(*a, **o) = (require "stringio"; r, s = __go(a, o, true); l = [StringIO.new, StringIO.new(r[0]), Waiter.new(s)]; block_given? ? yield(*l) : l)
end
