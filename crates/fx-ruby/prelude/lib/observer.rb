module Observable
  def add_observer(o, f = :update)
    raise NoMethodError, "observer does not respond to `#{f}'" unless o.respond_to?(f)
    (@observer_peers ||= {})[o] = f
  end
  def delete_observer(o) = @observer_peers&.delete(o)
  def delete_observers = @observer_peers&.clear
  def count_observers = @observer_peers ? @observer_peers.size : 0
  def changed(s = true) = (@observer_state = s)
  def changed? = !!@observer_state
  def notify_observers(*a)
    return unless @observer_state
    @observer_peers&.each { |k, v| k.__send__(v, *a) }
    @observer_state = false
  end
end
