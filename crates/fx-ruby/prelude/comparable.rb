module Comparable
  def __cmp(other)
    r = (self <=> other)
    if nil == r
      plain = nil == other || true == other || false == other || Integer === other || Float === other
      shown = plain ? other.inspect : other.class
      raise ArgumentError, "comparison of #{self.class} with #{shown} failed"
    end
    r
  end
  private :__cmp
  def <(other) = __cmp(other) < 0
  def <=(other) = __cmp(other) <= 0
  def >(other) = __cmp(other) > 0
  def >=(other) = __cmp(other) >= 0
  def between?(min, max) = !(__cmp(min) < 0 || __cmp(max) > 0)
  def clamp(min, max = (one = true; nil))
    if one
      raise TypeError, "wrong argument type #{min.class} (expected Range)" unless Range === min
      raise ArgumentError, "cannot clamp with an exclusive range" if min.exclude_end? && !min.end.nil?
      min, max = min.begin, min.end
    end
    if !min.nil? && !max.nil? && Comparable.instance_method(:__cmp).bind_call(min, max) > 0
      raise ArgumentError, "min argument must be less than or equal to max argument"
    end
    return min if !min.nil? && __cmp(min) < 0
    return max if !max.nil? && __cmp(max) > 0
    self
  end
end
