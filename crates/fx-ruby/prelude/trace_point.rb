# Classes, modules and exceptions as they come. Calls and lines are not told: to look for a listener at each of
# them would slow every program.
class TracePoint
  EVENTS = { class: 1, end: 2, raise: 4 }.freeze
  private_constant :EVENTS
  @enabled = []

  class << self
    def new(*events, &block)
      raise ArgumentError, "must be called with a block" unless block
      events.map! { |event| event.to_sym }
      other = events.find { |event| !EVENTS.key?(event) }
      if other || events.empty?
        raise NotImplementedError,
              "TracePoint of #{other ? other.inspect : "all events"}: this runtime tells :class, :end and :raise"
      end
      super(events, block)
    end

    def trace(*events, &block) = new(*events, &block).tap(&:enable)
    def stat = {}

    def __enable(point, on)
      on ? @enabled |= [point] : @enabled -= [point]
      __listen
    end

    def __enabled?(point) = @enabled.include?(point)

    # Those that wait for the event hear it; what they do themselves is not told.
    def __fire(event, *rest)
      @firing = true
      @enabled.dup.each { |point| point.__tell(event, rest) }
    ensure
      @firing = false
      __listen
    end

    private

    def __listen
      ObjectSpace.__watch(@enabled.inject(0) { |mask, point| mask | point.__mask }) unless @firing
    end
  end

  attr_reader :__mask

  def initialize(events, block)
    @events, @block = events, block
    @__mask = events.inject(0) { |mask, event| mask | EVENTS.fetch(event) }
  end

  def enable(target: nil, target_line: nil, target_thread: nil, &during)
    raise ArgumentError, "can not enable any hooks" if target || target_line
    __switch(true, during)
  end

  def disable(&during) = __switch(false, during)
  def enabled? = self.class.__enabled?(self)

  { event: 0, path: 1, lineno: 2, self: 3, method_id: 4, callee_id: 4, defined_class: 5 }.each do |name, at|
    define_method(name) { __now[at] }
  end

  def raised_exception
    raise "not supported by this event" unless __now[0] == :raise
    __now[6]
  end

  def return_value = raise(__now && "not supported by this event")
  def binding = raise(NotImplementedError, "TracePoint#binding is not supported by this runtime")

  def inspect
    return "#<TracePoint:#{enabled? ? "enabled" : "disabled"}>" unless @now
    "#<TracePoint:#{event} #{path}:#{lineno}>"
  end

  def __tell(event, rest)
    return if @events.none?(event)
    @now = [event, *rest]
    @block.call(self)
  ensure
    @now = nil
  end

  private

  def __now = @now || raise("access from outside")

  # With a block until it ends; otherwise gives how it was.
  def __switch(on, during)
    before = enabled?
    self.class.__enable(self, on)
    return before unless during
    begin
      during.call
    ensure
      self.class.__enable(self, before)
    end
  end
end
