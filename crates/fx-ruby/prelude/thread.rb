class Thread
  def self.main = (@__main ||= allocate.tap { |t| t.__init })
  def self.current = @__running || main
  def self.list = [main, @__running].compact.uniq
  # A thread runs to its end at once, so nothing that it waits for in turns can come.
  def self.pass
    return unless @__running
    @__passes += 1
    Kernel.raise ThreadError, "No live threads left. Deadlock?" if @__passes > 20_000
  end
  def self.__run(t)
    old, @__running, @__passes = @__running, t, 0
    yield
  ensure
    @__running, @__passes = old, 0
  end
  def self.abort_on_exception = false
  def self.abort_on_exception=(v)
    v
  end
  def self.report_on_exception = true
  def self.report_on_exception=(v)
    v
  end
  def self.start(*a, &b) = new(*a, &b)
  def self.fork(*a, &b) = new(*a, &b)
  def self.handle_interrupt(*) = yield
  def self.exclusive = yield
  def self.exit = raise(SystemExit)
  def __init
    @locals = {}
    @vars = {}
  end
  def initialize(*args, &b)
    raise ThreadError, "must be called with a block" unless b
    __init
    begin
      @value = Thread.__run(self) { b.call(*args) }
    rescue Exception => e
      raise if SystemExit === e
      @error = e
    end
  end
  def join(*) = (e = @error; @error = nil; raise e if e; self)
  def value = (join; @value)
  def alive? = equal?(Thread.current)
  def status = alive? ? "run" : (@error ? nil : false)
  def stop? = !alive?
  def kill = self
  def exit = self
  def terminate = self
  def wakeup = self
  def run = self
  def [](k) = @locals[k.to_sym]
  def []=(k, v)
    @locals[k.to_sym] = v
  end
  def key?(k) = @locals.key?(k.to_sym)
  def keys = @locals.keys
  def fetch(k, *d, &b) = @locals.fetch(k.to_sym, *d, &b)
  def thread_variable_get(k) = @vars[k.to_sym]
  def thread_variable_set(k, v) = (@vars[k.to_sym] = v)
  def thread_variable?(k) = @vars.key?(k.to_sym)
  def thread_variables = @vars.keys
  def priority = 0
  def priority=(v)
    v
  end
  def name = @name
  def name=(v)
    @name = v
  end
  def group = nil
  def abort_on_exception=(v)
    v
  end
  def report_on_exception=(v)
    v
  end
  def backtrace(*) = caller
  def raise(*a) = Kernel.raise(*a)
  def native_thread_id = 1
  class Mutex
    def lock = (Kernel.raise ThreadError, "deadlock; recursive locking" if @l; @l = true; self)
    def unlock = (Kernel.raise ThreadError, "Attempt to unlock a mutex which is not locked" unless @l; @l = false; self)
    def try_lock = @l ? false : (@l = true)
    def locked? = !!@l
    def owned? = !!@l
    def synchronize
      lock
      begin
        yield
      ensure
        unlock if @l
      end
    end
    def sleep(*a) = Kernel.sleep(*a)
  end
  class ConditionVariable
    def wait(*) = self
    def signal = self
    def broadcast = self
  end
  class Queue
    def initialize(a = []) = (@q = a.to_a.dup; @closed = false)
    def push(v) = (Kernel.raise ClosedQueueError, "queue closed" if @closed; @q.push(v); self)
    alias << push
    alias enq push
    def pop(non_block = false, timeout: nil)
      if @q.empty?
        return nil if @closed || timeout
        Kernel.raise ThreadError, "queue empty" if non_block
        Kernel.raise fatal_deadlock
      end
      @q.shift
    end
    def fatal_deadlock = ThreadError.new("No live threads left. Deadlock?")
    alias shift pop
    alias deq pop
    def size = @q.size
    alias length size
    def empty? = @q.empty?
    def clear = (@q.clear; self)
    def close = (@closed = true; self)
    def closed? = @closed
    def num_waiting = 0
  end
  class SizedQueue < Queue
    attr_accessor :max
    def initialize(n) = (@max = n; super())
  end
end
Mutex = Thread::Mutex
Queue = Thread::Queue
SizedQueue = Thread::SizedQueue
ConditionVariable = Thread::ConditionVariable
class ThreadGroup
  Default = new
  def list = []
  def add(t) = self
end
class Monitor
  def enter = (@n = (@n || 0) + 1; nil)
  def exit = (raise ThreadError, "current thread not owner" if (@n || 0) == 0; @n -= 1; nil)
  def try_enter = (enter; true)
  alias mon_enter enter
  alias mon_exit exit
  alias mon_try_enter try_enter
  alias try_mon_enter try_enter
  def synchronize
    enter
    begin
      yield
    ensure
      self.exit
    end
  end
  alias mon_synchronize synchronize
  def mon_locked? = (@n || 0) > 0
  def mon_owned? = mon_locked?
  def new_cond = MonitorMixin::ConditionVariable.new(self)
end
module MonitorMixin
  class ConditionVariable
    def initialize(m) = @m = m
    def wait(t = nil) = true
    def wait_while = nil
    def wait_until = nil
    def signal = self
    def broadcast = self
  end
  def self.extend_object(o) = (super; o.__send__(:mon_initialize))
  def mon_initialize = (@mon_data = ::Monitor.new)
  def __mon = (@mon_data ||= ::Monitor.new)
  def mon_enter = __mon.enter
  def mon_exit = __mon.exit
  def mon_try_enter = __mon.try_enter
  def try_mon_enter = __mon.try_enter
  def mon_locked? = __mon.mon_locked?
  def mon_owned? = __mon.mon_owned?
  def mon_synchronize(&b) = __mon.synchronize(&b)
  def synchronize(&b) = __mon.synchronize(&b)
  def new_cond = ConditionVariable.new(__mon)
end
class Fiber
  def self.new(*) = raise(NotImplementedError, "Fiber is not supported by this runtime: it runs on one stack")
  def self.yield(*) = raise(FiberError, "can't yield from root fiber")
end
