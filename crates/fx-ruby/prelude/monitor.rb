# A lock that its owner may take again, and the mixin around it.
class Monitor
  def initialize = @count = 0
  def enter
    thread = Thread.current
    unless @owner.equal?(thread)
      Thread.__wait { @owner.nil? } if @owner
      @owner, @count = thread, 0
    end
    @count += 1
    nil
  end
  def exit
    mon_check_owner
    @count -= 1
    @owner = nil if @count == 0
    nil
  end
  def try_enter
    return false if @owner && !mon_owned?
    enter
    true
  end
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
  def mon_locked? = !@owner.nil?
  def mon_owned? = @owner.equal?(Thread.current)
  def mon_check_owner = mon_owned? ? nil : raise(ThreadError, "current thread not owner")
  def new_cond = MonitorMixin::ConditionVariable.new(self)
  def wait_for_cond(place, seconds)
    owner, count = @owner, @count
    @owner = nil
    begin
      Thread.__wait(seconds) { place[0] }
    ensure
      Thread.__wait { @owner.nil? } if @owner
      @owner, @count = owner, count
    end
  end
end
module MonitorMixin
  class ConditionVariable
    def initialize(monitor) = (@monitor, @waiting = monitor, [])
    def wait(seconds = nil)
      @monitor.mon_check_owner
      place = [false]
      @waiting << place
      begin
        @monitor.wait_for_cond(place, seconds)
      ensure
        @waiting.delete_if { |x| x.equal?(place) }
      end
    end
    def wait_while = (wait while yield)
    def wait_until = (wait until yield)
    def signal
      @monitor.mon_check_owner
      place = @waiting.shift
      place[0] = true if place
      self
    end
    def broadcast
      @monitor.mon_check_owner
      @waiting.each { |place| place[0] = true }
      @waiting.clear
      self
    end
  end
  def self.extend_object(object) = (super; object.__send__(:mon_initialize))
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
