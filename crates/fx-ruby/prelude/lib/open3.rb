require "stringio"
module Open3
  def self.__go(args, opts, merge)
    env = Hash === args[0] ? args[0] : nil
    args = args.drop(1) if env
    cmd = args.size == 1 && String === args[0] ? args[0] : args.map { |x| Array === x ? x[0] : x.to_s }
    r = Process.__run(cmd, env, opts[:chdir] && opts[:chdir].to_s, opts[:stdin_data].to_s, merge)
    [r, Process.__status(r)]
  end
  # A command that runs once its input is closed, its output is read or its end is waited for.
  class Job
    class Feed < StringIO
      attr_writer :job
      def close = closed? ? nil : (super; @job.go; nil)
      def close_write = close
    end
    class Late
      def initialize(job, at) = (@job, @at = job, at)
      def method_missing(name, ...) = __io.__send__(name, ...)
      def respond_to_missing?(name, all = false) = StringIO.method_defined?(name)
      def __io = @io ||= StringIO.new(@job.go[0][@at])
    end
    attr_reader :stdin
    def initialize(args, opts, merge)
      @args, @opts, @merge, @stdin = args, opts, merge, Feed.new
      @stdin.job = self
    end
    def go = @done ||= Open3.__go(@args, { stdin_data: @stdin.string, **@opts }, @merge)
    def output(at) = Late.new(self, at)
    def value = go[1]
    def status = @done ? false : "sleep"
    def pid = value.pid
    def join(*) = (go; self)
    def alive? = !@done
    def [](k) = k == :pid ? pid : nil
    def self.open(args, opts, merge, outputs)
      job = new(args, opts, merge)
      list = [job.stdin, *outputs.map { |at| job.output(at) }, job]
      return list unless block_given?
      begin
        yield(*list)
      ensure
        job.go
      end
    end
  end
  module_function
  def capture3(*a, **o) = (r, s = Open3.__go(a, o, false); [r[0], r[1], s])
  def capture2(*a, **o) = (r, s = Open3.__go(a, o, false); $stderr.write(r[1]); [r[0], s])
  def capture2e(*a, **o) = (r, s = Open3.__go(a, o, true); [r[0], s])
  def popen3(*a, **o, &b) = Job.open(a, o, false, [0, 1], &b)
  def popen2(*a, **o, &b) = Job.open(a, o, false, [0], &b)
  def popen2e(*a, **o, &b) = Job.open(a, o, true, [0], &b)
  # Each command's output is the next one's input.
  def pipeline_r(*cmds, **o)
    input, all = "", []
    cmds.each do |c|
      r, s = Open3.__go([*c], { **o, stdin_data: input }, false)
      $stderr.write(r[1])
      input = r[0]
      all << s
    end
    return [StringIO.new(input), all] unless block_given?
    yield StringIO.new(input), all
  end
  def pipeline(*cmds, **o) = pipeline_r(*cmds, **o) { |out, all| $stdout.write(out.read); all }
end
