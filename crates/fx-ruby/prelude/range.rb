class Range
  def first(*n)
    raise RangeError, "cannot get the first element of beginless range" if self.begin.nil?
    return self.begin if n.empty?
    super
  end
  def last(*n)
    raise RangeError, "cannot get the last element of endless range" if self.end.nil?
    return self.end if n.empty?
    to_a.last(*n)
  end
  def __each
    b, e = self.begin, self.end
    raise TypeError, "can't iterate from #{b.class}" unless b.respond_to?(:succ)
    if e.nil?
      loop_v = b
      while true
        yield loop_v
        loop_v = loop_v.succ
      end
    elsif String === b
      b.upto(e, exclude_end?) { |s| yield s }
    elsif Symbol === b
      b.to_s.upto(e.to_s, exclude_end?) { |s| yield s.to_sym }
    elsif Integer === b && (Float === e || !(Integer === e))
      i = b
      while exclude_end? ? i < e : i <= e
        yield i
        i += 1
      end
    else
      v = b
      c = (v <=> e)
      while c && (c < 0 || (c == 0 && !exclude_end?))
        yield v
        break if c == 0
        v = v.succ
        c = (v <=> e)
      end
    end
    self
  end
  def size
    b, e = self.begin, self.end
    if Integer === b
      return Float::INFINITY if e.nil?
      return nil unless Numeric === e
      return Float::INFINITY if e == Float::INFINITY
      return 0 if e == -Float::INFINITY
      n = (e - b).floor + 1
      n -= 1 if exclude_end? && (e.floor == e)
      return n < 0 ? 0 : n
    end
    if Float === b
      return Float::INFINITY if e.nil?
      return nil unless Numeric === e
      return e > b ? Float::INFINITY : 0 if b.infinite? || (Float === e && e.infinite?)
      n = (e - b).floor + 1
      n -= 1 if exclude_end? && b + (n - 1) >= e
      return n < 0 ? 0 : n
    end
    return Float::INFINITY if b.nil? && Numeric === e
    nil
  end
  def count(*a, &b)
    return super unless a.empty? && !b
    return Float::INFINITY if self.begin.nil? || self.end.nil?
    Integer === self.begin && Integer === self.end ? size : super
  end
  def include?(v)
    b, e = self.begin, self.end
    return cover?(v) if Numeric === b || Numeric === e || (defined?(Time) && (Time === b || Time === e))
    if String === b && String === e
      unless String === v
        return false unless v.respond_to?(:to_str)
        v = Process.__str(v)
      end
      return super(v)
    end
    raise TypeError, "cannot determine inclusion in beginless/endless ranges" if b.nil? || e.nil?
    super
  end
  alias member? include?
  def __compare(a, b) = (a <=> b) || 2
  private :__compare
  def __cover_range(r)
    return false if !self.end.nil? && r.end.nil?
    return false if !self.begin.nil? && r.begin.nil?
    return false if !r.begin.nil? && !r.end.nil? && __compare(r.begin, r.end) > (r.exclude_end? ? -1 : 0)
    return false if !r.begin.nil? && !cover?(r.begin)
    c = __compare(self.end, r.end)
    return c >= 0 if exclude_end? == r.exclude_end?
    return c > 0 if exclude_end?
    return true if c >= 0
    last = begin
      r.max
    rescue TypeError
      nil
    end
    !last.nil? && __compare(self.end, last) >= 0
  end
  def min(*n, &b)
    raise RangeError, "cannot get the minimum of beginless range" if self.begin.nil?
    raise RangeError, "cannot get the minimum of endless range with custom comparison method" if self.end.nil? && b
    if self.end.nil?
      return self.begin if n.empty?
      raise TypeError, "can't iterate from #{self.begin.class}" unless Integer === self.begin
      return first(n[0])
    end
    return super if b || !n.empty?
    c = self.begin <=> self.end
    c > 0 || (c == 0 && exclude_end?) ? nil : self.begin
  end
  def max(*n, &b)
    raise RangeError, "cannot get the maximum of endless range" if self.end.nil?
    if self.begin.nil? && (b || !n.empty?)
      raise RangeError, "cannot get the maximum of beginless range with custom comparison method"
    end
    return super if b || !n.empty? || (exclude_end? && !(Numeric === self.end))
    unless self.begin.nil?
      c = self.begin <=> self.end
      return nil if c > 0 || (c == 0 && exclude_end?)
    end
    if exclude_end?
      raise TypeError, "cannot exclude non Integer end value" unless Integer === self.end
      raise TypeError, "cannot exclude end value with non Integer begin value" unless Integer === self.begin
      return self.end - 1
    end
    self.end
  end
  def minmax(&b) = b ? super : [min, max]
  def sum(init = 0, &b)
    return super if b || !(Integer === self.begin && Integer === self.end)
    e = exclude_end? ? self.end - 1 : self.end
    return init if e < self.begin
    init + (e - self.begin + 1) * (self.begin + e) / 2
  end
  def step(n = (none = true; 1), &b)
    bg, e = self.begin, self.end
    if !none && !(Numeric === n)
      if !(Numeric === bg) || n.respond_to?(:to_int) || !n.respond_to?(:coerce)
        n = Array.__to_int(n)
      end
    elsif Float === n && String === bg
      raise TypeError, "no implicit conversion to float from string"
    end
    if !b
      if Numeric === bg || (bg.nil? && Numeric === e)
        raise ArgumentError, "step can't be 0" if n == 0
        return Enumerator::ArithmeticSequence.__make(bg, e, n, exclude_end?, self, none ? nil : n)
      end
      return to_enum(:step, n)
    end
    raise ArgumentError, "#step iteration for beginless ranges is meaningless" if bg.nil?
    raise ArgumentError, "step can't be 0" if n == 0
    raise ArgumentError, "step can't be negative" if Numeric === n && n < 0 && !(Numeric === bg)
    if Numeric === bg
      raise ArgumentError, "step can't be negative" if n < 0
      if Float === bg || Float === e || Float === n
        Float.__each_step(bg.to_f, e&.to_f, n.to_f, exclude_end?, &b)
      else
        v = bg
        while e.nil? || (exclude_end? ? v < e : v <= e)
          yield v
          v += n
        end
      end
    else
      i = 0
      each { |v| yield v if i % n == 0; i += 1 }
    end
    self
  end
  def %(n, &b)
    r = step(n, &b)
    Enumerator::ArithmeticSequence === r ? r.__called("%") : r
  end
  def reverse_each(&b)
    return to_enum(:reverse_each) unless b
    raise TypeError, "can't iterate from #{self.end.class}" if self.end.nil?
    to_a.reverse.each(&b)
    self
  end
  def bsearch
    lo, hi = self.begin, self.end
    raise TypeError, "can't do binary search for #{lo.class}" unless Numeric === lo || (lo.nil? && Numeric === hi)
    raise TypeError, "can't do binary search for #{lo.class}" unless hi.nil? || Numeric === hi
    return to_enum(:bsearch) unless block_given?
    if Float === lo || Float === hi
      # Floats in their order are integers in theirs.
      from = Range.__rank(lo.nil? ? -Float::INFINITY : lo.to_f)
      to = Range.__rank(hi.nil? ? Float::INFINITY : hi.to_f)
      to -= 1 if exclude_end? && !hi.nil?
      found = nil
      while from <= to
        mid = (from + to) / 2
        v = Range.__float(mid)
        case (r = yield(v))
        when true then found = v; to = mid - 1
        when false, nil then from = mid + 1
        when Numeric
          return v if r == 0
          r < 0 ? to = mid - 1 : from = mid + 1
        else raise TypeError, "wrong argument type #{r.class} (must be numeric, true, false or nil)"
        end
      end
      return found
    end
    if hi.nil?
      step = 1
      step *= 2 until (r = yield(lo + step)) == true || (Numeric === r && r <= 0) || step > 1 << 80
      hi = lo + step
    elsif lo.nil?
      step = 1
      step *= 2 while ((r = yield(hi - step)) == true || (Numeric === r && r < 0)) && step < 1 << 80
      lo = hi - step
    end
    hi -= 1 if exclude_end? && !self.end.nil?
    found = nil
    while lo <= hi
      mid = (lo + hi) / 2
      r = yield(mid)
      case r
      when true then found = mid; hi = mid - 1
      when false, nil then lo = mid + 1
      when Numeric
        return mid if r == 0
        r < 0 ? hi = mid - 1 : lo = mid + 1
      else raise TypeError, "wrong argument type #{r.class} (must be numeric, true, false or nil)"
      end
    end
    found
  end
  def overlap?(o) = !(max.nil? || o.max.nil?) && cover?(o.begin) || o.cover?(self.begin)
  def self.__rank(f) = (b = [f].pack("G").unpack1("q>")) < 0 ? -(b & 0x7fff_ffff_ffff_ffff) : b
  def self.__float(n) = (n < 0 ? [-n | 1 << 63].pack("Q>") : [n].pack("q>")).unpack1("G")
end
