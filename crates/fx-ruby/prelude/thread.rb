# Threads are fibers that the root of the main thread resumes in turns, in the order they were made: where one
# waits, and where one has run for long. So the same program runs in the same order every time.
class Thread
  @others = []
  @abort = false
  @report = true
  class << self
    attr_writer :abort_on_exception
    attr_accessor :report_on_exception
    def abort_on_exception = @abort_on_exception || false
    def main = @main ||= allocate.tap { |t| t.__send__(:__begin, nil) }
    def current = @current || main
    def list = [main, *@others.select(&:alive?)]
    def pass = __switch
    def stop = __sleep
    def exit = current.kill
    def kill(t) = t.kill
    def new(*args, **kw, &block)
      thread = allocate
      thread.__send__(:initialize, *args, **kw, &block)
      raise ThreadError, "uninitialized thread - check `#{self}#initialize'" unless thread.__begun?
      thread
    end
    def start(*args, **kw, &block)
      raise ArgumentError, "tried to create Proc object without a block" unless block
      allocate.tap { |t| t.__send__(:__start, args, kw, block) }
    end
    alias fork start
    def handle_interrupt(*) = yield
    def pending_interrupt?(*) = false
    def exclusive = yield
    def each_caller_location(&b) = (caller_locations(2).each(&b); nil)

    def __exception(kind = (none = true), message = (alone = true; nil), trace = nil)
      return RuntimeError.new("unhandled exception") if none
      return RuntimeError.new(kind) if String === kind
      raise TypeError, "exception class/object expected" unless kind.respond_to?(:exception)
      e = alone ? kind.exception : kind.exception(message)
      raise TypeError, "exception object expected" unless Exception === e
      e.set_backtrace(trace) if trace
      e
    end

    # Waits until the block is true; false when the time came first.
    def __wait(seconds = nil, &ready)
      thread = current
      deadline = seconds && now + seconds
      until ready.call
        return false if deadline && now >= deadline
        thread.__wait_for(ready, deadline)
        begin
          __switch
        ensure
          thread.__wait_for(nil, nil)
        end
      end
      true
    end

    def __sleep(seconds = nil)
      unless seconds.nil? || Numeric === seconds || seconds.respond_to?(:divmod)
        raise TypeError, "can't convert #{seconds.class} into time interval"
      end
      seconds = seconds.divmod(1).sum if seconds && !(Numeric === seconds)
      raise ArgumentError, "time interval must not be negative" if seconds && seconds < 0
      thread, from = current, now
      thread.__woken = false
      thread.__asleep = true
      begin
        __wait(seconds) { thread.__woken }
      ensure
        thread.__asleep = false
      end
      (now - from).round
    end

    # Gives each other thread that can run its share.
    def __turn
      ran = false
      @others.dup.each do |thread|
        next unless thread.__ready?
        ran = true
        begin
          @current = thread
          thread.__share
        ensure
          @current = nil
        end
      end
      @others.select!(&:alive?)
      __idle unless ran || main.__ready?
      e = main.__interrupt
      raise e if e
    end

    def __add(thread) = @others << thread

    # At the end of the program: the others end too, and their `ensure` parts run.
    def __finish
      10.times do
        break if @others.empty?
        @others.each(&:kill)
        __turn
      end
    end

    private

    def now = Process.__mono / 1e9

    def __idle
      times = [main, *@others].filter_map(&:__deadline)
      raise DEADLOCK, "No live threads left. Deadlock?\n" if times.empty?
      left = times.min - now
      Process.__nap(left) if left > 0
    end
  end

  DEADLOCK = Class.new(Exception) do
    def self.name = "fatal"
    def self.inspect = "fatal"
    def self.to_s = "fatal"
  end
  private_constant :DEADLOCK

  attr_accessor :name, :priority, :__woken, :__asleep
  attr_reader :group, :__deadline
  attr_writer :report_on_exception, :abort_on_exception

  def initialize(*args, **kw, &block)
    raise ThreadError, "must be called with a block" unless block
    raise ThreadError, "already initialized thread" if __begun?
    __start(args, kw, block)
  end

  def join(limit = nil)
    unless limit.nil? || Numeric === limit
      raise TypeError, "timeout must be non-negative" if limit.respond_to?(:to_str)
      limit = Float(limit)
    end
    raise ThreadError, "Target thread must not be current thread" if equal?(Thread.current)
    raise ThreadError, "Target thread must not be main thread" if equal?(Thread.main)
    return nil if alive? && !Thread.__wait(limit && [limit, 0].max) { !alive? }
    Kernel.raise @error if @error
    self
  end

  def value = (join; @value)
  def alive? = !@ended
  def stop? = @ended || !!@ready
  def status
    return @error ? nil : false if @ended
    return "aborting" if @killed
    @ready ? "sleep" : "run"
  end

  def kill
    return self if @ended
    return Kernel.exit if @fiber.nil?
    @killed = true
    equal?(Thread.current) ? Thread.__end : @fiber.__kill
    self
  end
  alias terminate kill
  alias exit kill

  def wakeup
    Kernel.raise ThreadError, "killed thread" if @ended
    @__woken = true
    self
  end
  def run = (wakeup; Thread.pass; self)

  def raise(*args, **kw)
    return if @ended
    e = Thread.__exception(*args, **kw)
    Kernel.raise e if equal?(Thread.current)
    @interrupt = e
    @fiber&.__raise(e)
    nil
  end

  def [](key) = __locals[__key(key)]
  def []=(key, value)
    Kernel.raise FrozenError.new("can't modify frozen thread locals", receiver: self) if frozen?
    __locals[__key(key)] = value
  end
  def key?(key) = __locals.key?(__key(key))
  def keys = __locals.keys
  def fetch(key, *default, &block)
    return __locals[__key(key)] if key?(key)
    return block.call(key) if block
    return default[0] unless default.empty?
    Kernel.raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
  end
  def thread_variable_get(key) = @variables[__key(key)]
  def thread_variable_set(key, value)
    Kernel.raise FrozenError.new("can't modify frozen thread locals", receiver: self) if frozen?
    value.nil? ? (@variables.delete(__key(key)); nil) : @variables[__key(key)] = value
  end
  def thread_variable?(key) = @variables.key?(__key(key))
  def thread_variables = @variables.keys
  def abort_on_exception = @abort_on_exception || false
  def report_on_exception = @report_on_exception
  def pending_interrupt?(*) = !@interrupt.nil?
  def backtrace(*args) = @ended ? nil : caller(*args)
  def backtrace_locations(*args) = @ended ? nil : caller_locations(*args)
  def native_thread_id = Process.pid
  def set_trace_func(*) = Kernel.raise(NotImplementedError, "set_trace_func() is not supported by this runtime")
  def inspect
    at = @place && " #{@place}"
    label = @name && "@#{@name}"
    "#<#{self.class}:0x#{"%016x" % (object_id * 8)}#{label}#{at} #{status || "dead"}>"
  end
  alias to_s inspect

  def __begun? = !@locals.nil?
  def __wait_for(ready, deadline) = (@ready, @__deadline = ready, deadline)
  def __ready?
    return true if @ready.nil? || @interrupt || @killed
    (@__deadline && Process.__mono / 1e9 >= @__deadline) || !!@ready.call
  end
  def __interrupt = (e, @interrupt = @interrupt, nil; e)
  def __share
    @interrupt = nil
    return unless @fiber.__share
    @ended = true
    (@mutexes || []).each(&:__abandon)
  end
  def __mutexes = @mutexes ||= []

  private

  def __begin(fiber)
    @locals, @variables, @fiber = {}, {}, fiber
    @report_on_exception = Thread.report_on_exception
    @priority = 0
    @group = ThreadGroup::Default
  end

  def __start(args, kw, block)
    @place = block.source_location&.join(":")
    parent = Thread.current.group
    __begin(Fiber.__thread { __run(args, kw, block) })
    @group = parent
    Thread.__add(self)
  end

  def __run(args, kw, block)
    @value = block.call(*args, **kw)
  rescue SystemExit => e
    Thread.main.raise(e)
  rescue Exception => e
    @error = e
    if @report_on_exception && !@killed
      head = "#{inspect} terminated with exception (report_on_exception is true):\n"
      $stderr.write(head + e.full_message(highlight: false))
    end
    Thread.main.raise(e) if abort_on_exception || Thread.abort_on_exception
  end

  # What is set by a key belongs to the fiber that runs.
  def __locals
    fiber = Fiber.__running
    fiber && !fiber.equal?(@fiber) && equal?(Thread.current) ? fiber.__locals : @locals
  end

  def __key(key)
    return key if Symbol === key
    return key.to_str.to_sym if key.respond_to?(:to_str)
    Kernel.raise TypeError, "#{key.inspect} is not a symbol"
  end

  class Mutex
    def lock
      thread = Thread.current
      Kernel.raise ThreadError, "deadlock; recursive locking" if @owner.equal?(thread)
      Thread.__wait { @owner.nil? } if @owner
      __own(thread)
      self
    end
    def unlock
      Kernel.raise ThreadError, "Attempt to unlock a mutex which is not locked" unless @owner
      unless @owner.equal?(Thread.current)
        Kernel.raise ThreadError, "Attempt to unlock a mutex which is locked by another thread/fiber"
      end
      @owner.__mutexes.delete(self)
      @owner = nil
      self
    end
    def try_lock
      return false if @owner
      __own(Thread.current)
      true
    end
    def locked? = !!@owner
    def owned? = @owner.equal?(Thread.current)
    def synchronize
      Kernel.raise ThreadError, "must be called with a block" unless block_given?
      lock
      begin
        yield
      ensure
        unlock if owned?
      end
    end
    def sleep(seconds = nil)
      unlock
      begin
        Thread.__sleep(seconds)
      ensure
        lock
      end
    end
    def __abandon = @owner = nil
    private def __own(thread)
      thread.__mutexes << self
      @owner = thread
    end
  end

  class ConditionVariable
    def initialize = @waiting = []
    def wait(mutex, seconds = nil)
      place = [false]
      @waiting << place
      mutex.unlock
      begin
        Thread.__wait(seconds) { place[0] }
      ensure
        @waiting.delete_if { |x| x.equal?(place) }
        mutex.lock
      end
      place[0] || seconds.nil? ? self : nil
    end
    def signal
      place = @waiting.shift
      place[0] = true if place
      self
    end
    def broadcast
      @waiting.each { |place| place[0] = true }
      @waiting.clear
      self
    end
    def marshal_dump = raise(TypeError, "can't dump #{self.class}")
  end

  class Queue
    attr_reader :num_waiting
    def initialize(items = [])
      unless Array === items
        raise TypeError, "can't convert #{items.class} into Array" unless items.respond_to?(:to_a)
        items = items.to_a
      end
      @items, @closed, @num_waiting = items.dup, false, 0
    end
    def push(item)
      raise ClosedQueueError, "queue closed" if @closed
      @items.push(item)
      self
    end
    alias << push
    alias enq push
    def pop(non_block = false, timeout: nil)
      if @items.empty?
        raise ThreadError, "queue empty" if non_block
        __waiting(timeout) { !@items.empty? || @closed }
      end
      @items.shift
    end
    alias shift pop
    alias deq pop
    def size = @items.size
    alias length size
    def empty? = @items.empty?
    def clear = (@items.clear; self)
    def close = (@closed = true; self)
    def closed? = @closed
    def freeze = raise(TypeError, "cannot freeze #{inspect}")
    def marshal_dump = raise(TypeError, "can't dump #{self.class}")
    private def __waiting(timeout, &ready)
      @num_waiting += 1
      begin
        Thread.__wait(timeout, &ready)
      ensure
        @num_waiting -= 1
      end
    end
  end

  class SizedQueue < Queue
    attr_reader :max
    def initialize(max)
      super()
      self.max = max
    end
    def max=(max)
      max = Array.__to_int(max)
      raise ArgumentError, "queue size must be positive" unless max > 0
      @max = max
    end
    def push(item, non_block = false, timeout: nil)
      raise ClosedQueueError, "queue closed" if @closed
      if @items.size >= @max
        raise ThreadError, "queue full" if non_block
        return nil unless __waiting(timeout) { @items.size < @max || @closed }
      end
      super(item)
    end
    alias << push
    alias enq push
  end
end
Mutex = Thread::Mutex
Queue = Thread::Queue
SizedQueue = Thread::SizedQueue
ConditionVariable = Thread::ConditionVariable
class ThreadGroup
  def list = Thread.list.select { |t| t.group.equal?(self) }
  def add(thread)
    thread.instance_variable_set(:@group, self)
    self
  end
  def enclose = (@enclosed = true; self)
  def enclosed? = !!@enclosed
  Default = new
end
class Fiber
  class << self
    def current = __running || (@root ||= allocate)
    def [](key) = current.__storage[key]
    def []=(key, value)
      current.__storage[key] = value
    end
  end
  def __locals = @__locals ||= {}
  def __storage = @__storage ||= {}
  def blocking? = false
  def transfer(*) = raise(NotImplementedError, "Fiber#transfer is not supported by this runtime")
  def inspect = "#<Fiber:0x#{"%016x" % (object_id * 8)} (#{equal?(Fiber.current) ? "resumed" : __state})>"
  alias to_s inspect
end
