module Process
  CLOCK_REALTIME = 0
  CLOCK_MONOTONIC = 1
  CLOCK_PROCESS_CPUTIME_ID = 2
  CLOCK_THREAD_CPUTIME_ID = 3
  WNOHANG = 1
  WUNTRACED = 2
  RLIMIT_NOFILE = 7
  Tms = Struct.new(:utime, :stime, :cutime, :cstime)
  class Status
    attr_reader :pid
    def initialize(pid, code, sig) = (@pid, @code, @sig = pid, code, sig)
    # CRuby's copies know of no process: they are a success, and modules rely on it unknowingly.
    def initialize_copy(_) = (@pid, @code, @sig, @copied = 0, 0, nil, true)
    def exitstatus = @code
    def exited? = !@code.nil?
    def signaled? = !@sig.nil?
    def termsig = @sig
    def stopped? = false
    def coredump? = false
    def success? = @code.nil? ? nil : @code == 0
    def to_i = @code ? @code << 8 : @sig
    def ==(o) = Status === o ? to_i == o.to_i : to_i == o
    def >>(n) = to_i >> n
    def &(n) = to_i & n
    def to_s = "pid #{@pid} " + (@code ? "exit #{@code}" : "SIG#{Signal.signame(@sig)} (signal #{@sig})")
    def inspect = "#<Process::Status: #{@copied ? "uninitialized" : self}>"
  end
  class << self
    def __str(c)
      return c if String === c
      return c.to_str if c.respond_to?(:to_str)
      raise TypeError, "no implicit conversion of #{c.nil? ? "nil" : c.class} into String"
    end
    def __status(r)
      s = Status.new(r[4], r[2], r[3])
      $__status = s
      s
    end
    def clock_gettime(id, unit = :float_second)
      ns = id == 0 || id == :CLOCK_REALTIME ? (a = __now; a[0] * 1_000_000_000 + a[1]) : __mono
      case unit
      when :nanosecond then ns
      when :microsecond then ns / 1000
      when :millisecond then ns / 1_000_000
      when :second then ns / 1_000_000_000
      when :float_millisecond then ns / 1e6
      when :float_microsecond then ns / 1e3
      when :float_second, nil then ns / 1e9
      else raise ArgumentError, "unexpected unit: #{unit}"
      end
    end
    def times = Tms.new(__mono / 1e9, 0.0, 0.0, 0.0)
    def ppid = 1
    def kill(sig, *pids)
      name = sig.to_s.sub(/\ASIG/, "")
      n = Integer === sig ? sig : Signal.list[name] || raise(ArgumentError, "unsupported signal `SIG#{name}'")
      pids.each { |p| p == pid && n > 0 ? Signal.__self(n) : __signal(p, n) }
      pids.size
    end
    # Runs `[env,] command [, options]` with its streams from and to where the options say.
    def __redirected(args, opts)
      env = args.first.respond_to?(:to_hash) ? args.shift.to_hash : nil
      opts = args.pop.to_hash.merge(opts) if Hash === args.last
      env = ENV.to_h { |k, _| [k, nil] }.merge(env || {}) if opts[:unsetenv_others]
      cmd = args.size == 1 && !(Array === args[0]) ? __str(args[0]) : args.map do |a|
        Array === a ? a[0].to_str : __str(a)
      end
      to = { 0 => nil, 1 => $stdout, 2 => $stderr }
      opts.each do |from, into|
        [from].flatten.each do |f|
          n = { in: 0, out: 1, err: 2 }[f] || (IO === f ? f.fileno : f)
          to[n] = into if to.key?(n)
        end
      end
      merge = [[:child, :out], :out, 1].include?(to[2]) || to[1].equal?(to[2]) && String === to[1]
      r = __run(cmd, env, opts[:chdir] && File.__p(opts[:chdir]), __input(to[0]), merge)
      to[1] = to[2] if [[:child, :err], :err, 2].include?(to[1])
      __deliver(r[0], to[1])
      __deliver(r[1], to[2]) unless merge
      r
    end
    def __input(from)
      case from
      when nil, 0, :in then nil
      when :close then ""
      when String, Array then File.binread(Array(from)[0])
      else from.read
      end
    end
    def __deliver(text, to)
      case to
      when :close, [:child, :out], :out, 1, [:child, :err], :err, 2 then nil
      when String, Array
        File.open(*(Array === to ? (to.size > 1 ? to : [*to, "r"]) : [to, "w"])) { |f| f.write(text) }
      when Integer then IO.for_fd(to, "w", autoclose: false).write(text)
      else to.write(text) unless text.empty?
      end
    end
    # A command that was spawned has ended when its number is known; it waits to be asked for.
    def spawn(*args, **opts)
      r = __redirected(args, opts)
      (@__ended ||= {})[r[4]] = r
      r[4]
    end
    def wait(pid = -1, *)
      r = @__ended && (pid <= 0 ? @__ended.shift&.last : @__ended.delete(pid)) or raise Errno::ECHILD
      __status(r).pid
    end
    alias waitpid wait
    def wait2(*a) = [wait(*a), $?]
    alias waitpid2 wait2
    def waitall = (@__ended || {}).keys.map { |pid| wait2(pid) }
    def detach(pid) = Thread.new { wait(pid); $? }.tap { |t| t.define_singleton_method(:pid) { pid } }
    def fork(*)
      raise(NotImplementedError, "fork() is not supported by this runtime: it runs in one thread of one process")
    end
    def daemon(*) = raise(NotImplementedError, "daemon() is not supported by this runtime")
    def last_status = $?
    def groups = [egid]
    def getpgid(*) = pid
    def getpgrp = pid
    def getrlimit(*) = [1024, 4096]
    def setproctitle(s) = s
    def exit(*a) = Kernel.exit(*a)
    def abort(*a) = Kernel.abort(*a)
    def argv0 = $0
  end
  module Sys; end
  module UID; def self.eid = Process.euid; end
  module GID; def self.eid = Process.egid; end
end
alias $? $__status
alias $CHILD_STATUS $__status
module Signal
  LIST = {
    "EXIT" => 0, "HUP" => 1, "INT" => 2, "QUIT" => 3, "ILL" => 4, "TRAP" => 5, "ABRT" => 6,
    "IOT" => 6, "BUS" => 7, "FPE" => 8, "KILL" => 9, "USR1" => 10, "SEGV" => 11, "USR2" => 12,
    "PIPE" => 13, "ALRM" => 14, "TERM" => 15, "CHLD" => 17, "CLD" => 17, "CONT" => 18,
    "STOP" => 19, "TSTP" => 20, "TTIN" => 21, "TTOU" => 22, "URG" => 23, "XCPU" => 24,
    "XFSZ" => 25, "VTALRM" => 26, "PROF" => 27, "WINCH" => 28, "IO" => 29, "POLL" => 29,
    "PWR" => 30, "SYS" => 31
  }
  # A signal sent to this process: its trap, or what Ruby raises for it.
  def self.__self(n)
    handler = TRAPS[signame(n)]
    return handler.call(n) if handler.respond_to?(:call)
    return nil if ["", "IGNORE", "SIG_IGN"].include?(handler)
    raise Interrupt, "" if n == 2
    raise SignalException, n if [1, 3, 10, 12, 14, 15].include?(n)
    Process.__signal(Process.pid, n)
  end
  def self.__for_exception(*args)
    raise ArgumentError, "wrong number of arguments (given 0, expected 1)" if args.empty?
    sig, text = args
    if sig.respond_to?(:to_int)
      raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 1..2)" if args.size > 2
      n = Array.__to_int(sig)
      raise ArgumentError, "invalid signal number (#{n})" if n < 0 || n > 64
      return [n, text || "SIG#{signame(n) || n}"]
    end
    raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 1)" if args.size > 1
    sig = sig.to_str if !(Symbol === sig) && sig.respond_to?(:to_str)
    raise ArgumentError, "bad signal type #{sig.class}" unless Symbol === sig || String === sig
    name = sig.to_s.sub(/\ASIG/, "")
    raise ArgumentError, "unsupported signal `SIG#{name}'" unless LIST.key?(name)
    [LIST[name], "SIG#{name}"]
  end
  def self.list = LIST.dup
  def self.signame(n) = LIST.key(n)
  TRAPS = {}
  def self.trap(sig, cmd = nil, &b)
    name = Integer === sig ? signame(sig) : sig.to_s.sub(/\ASIG/, "")
    unless LIST.key?(name)
      raise ArgumentError, Integer === sig ? "invalid signal number (#{sig})" : "unsupported signal `SIG#{name}'"
    end
    if %w[KILL STOP SEGV BUS ILL FPE VTALRM].include?(name)
      raise ArgumentError, "can't trap reserved signal: SIG#{name}"
    end
    old = TRAPS.fetch(name, "DEFAULT")
    TRAPS[name] = b || cmd
    at_exit { TRAPS["EXIT"].call(0) if TRAPS["EXIT"].respond_to?(:call) } if name == "EXIT" && old == "DEFAULT"
    old
  end
end
