class Numeric
  def +@ = self
  def -@ = (a, b = coerce(0); a - b)
  def <=>(o) = equal?(o) ? 0 : nil
  def coerce(o)
    return [o, self] if o.class == self.class
    [Float(o), Float(self)]
  end
  def integer? = false
  def real? = true
  def real = self
  def imaginary = 0
  alias imag imaginary
  def conj = self
  alias conjugate conj
  def rect = [self, 0]
  alias rectangular rect
  def abs2 = self * self
  def arg = negative? ? Math::PI : 0
  alias angle arg
  alias phase arg
  def polar = [abs, arg]
  def i = Complex(0, self)
  def to_c = Complex(self, 0)
  def to_int = to_i
  def zero? = self == 0
  def nonzero? = zero? ? nil : self
  def positive? = self > 0
  def negative? = self < 0
  def finite? = true
  def infinite? = nil
  def abs = self < 0 ? -self : self
  alias magnitude abs
  def numerator = to_r.numerator
  def denominator = to_r.denominator
  def div(o)
    raise ZeroDivisionError, "divided by 0" if o == 0
    (self / o).floor
  end
  def divmod(o) = [div(o), self % o]
  def %(o) = self - o * div(o)
  alias modulo %
  def remainder(o)
    m = self % o
    m != 0 && ((self < 0 && o > 0) || (self > 0 && o < 0)) ? m - o : m
  end
  def quo(o)
    r = to_r
    unless Rational === r
      raise TypeError, "can't convert #{self.class} to Rational (#{self.class}#to_r gives #{r.class})"
    end
    r / o
  end
  def fdiv(o) = to_f / o
  def floor(*a) = to_f.floor(*a)
  def ceil(*a) = to_f.ceil(*a)
  def round(*a) = to_f.round(*a)
  def truncate(*a) = to_f.truncate(*a)
  def eql?(o) = o.class == self.class && self == o
  def clone(freeze: true) = (raise ArgumentError, "can't unfreeze #{self.class}" if freeze == false; self)
  def dup = self
  def step(limit = (nolimit = true; nil), step = (nostep = true; 1), by: (noby = true; nil), to: (noto = true; nil), &b)
    raise ArgumentError, "to is given twice" if !noto && !nolimit
    raise ArgumentError, "step is given twice" if !noby && !nostep
    limit = to unless noto
    step = by unless noby
    raise ArgumentError, "step can't be 0" if step == 0
    raise TypeError, "no implicit conversion from nil to integer" if step.nil? && b && false
    step = 1 if step.nil?
    unless b
      if Numeric === step
        shown = [self, (nolimit && noto) ? nil : limit, (nostep && noby) ? nil : step, !noby || !noto]
        return Enumerator::ArithmeticSequence.__make(self, limit, step, false, nil, nil, shown)
      end
      from = self
      return to_enum(:step, limit, step) do
        raise ArgumentError, "comparison of #{step.class} with 0 failed" unless step.respond_to?(:coerce)
        from.step(limit, step).size
      end
    end
    unless Numeric === step || (step.respond_to?(:coerce))
      raise ArgumentError, "comparison of #{step.class} with 0 failed"
    end
    if Float === self || Float === limit || Float === step
      Float.__each_step(to_f, limit&.to_f, step.to_f, false, &b)
      return self
    end
    v = self
    if step > 0
      while limit.nil? || v <= limit
        yield v
        v += step
      end
    else
      while limit.nil? || v >= limit
        yield v
        v += step
      end
    end
    self
  end
  def singleton_method_added(name) = raise(TypeError, "can't define singleton method \"#{name}\" for #{self.class}")
end
class Integer
  def positive? = self > 0
  def negative? = self < 0
  def nonzero? = self == 0 ? nil : self
  def digits(base = 10)
    base = Array.__to_int(base)
    raise ArgumentError, "negative radix" if base < 0
    raise ArgumentError, "invalid radix #{base}" if base < 2
    raise Math::DomainError, "out of domain" if self < 0
    return [0] if self == 0
    n = self
    r = []
    while n > 0
      n, d = n.divmod(base)
      r << d
    end
    r
  end
  def allbits?(m) = (m = Array.__to_int(m); self & m == m)
  def anybits?(m) = self & Array.__to_int(m) != 0
  def nobits?(m) = self & Array.__to_int(m) == 0
  def gcdlcm(o) = [gcd(o), lcm(o)]
  def to_r = Rational(self, 1)
  def rationalize(_ = nil) = Rational(self, 1)
  def ceildiv(o) = -div(0 - o)
  def dup = self
  def quo(o) = Float === o ? self / o : Rational(self, 1) / o
  def to_c = Complex(self, 0)
end
class Float
  # How many floats a step visits. The quotient is off by some bits, which may not cost the last one.
  def self.__steps(from, to, by, excl)
    to = by < 0 ? -INFINITY : INFINITY if to.nil?
    return (by > 0 ? from <= to : from >= to) ? 1 : 0 if by.infinite?
    return INFINITY if by == 0
    n = (to - from) / by
    return 0 if n.nan?
    slack = (from.abs + to.abs + (to - from).abs) / by.abs * EPSILON
    slack = 0.5 if !(slack <= 0.5)
    return n > 0 ? INFINITY : 0 if n.infinite?
    unless excl
      return n < 0 ? 0 : (n + slack).floor + 1
    end
    return 0 if n <= 0
    n = n < 1 ? 0 : (n - slack).floor
    d = (n + 1) * by + from
    n += 1 if from < to ? d < to : d > to
    n + 1
  end
  def self.__each_step(from, to, by, excl)
    n = __steps(from, to, by, excl)
    i = 0
    while i < n
      v = by.infinite? || by == 0 ? from : i * by + from
      v = to if to && (by >= 0 ? v > to : v < to)
      yield v
      i += 1
    end
  end
  def to_r = (n, d = __ratio; Rational(n, d))
  def numerator = nan? || infinite? ? self : to_r.numerator
  def denominator = nan? || infinite? ? 1 : to_r.denominator
  def rationalize(eps = nil)
    return Rational(to_i, 1) if self == to_i
    unless eps
      a = to_s
      if a =~ /\A(-?\d+)\.(\d+)(?:e([+-]\d+))?\z/
        r = Rational(($1 + $2).to_i, 10**$2.size)
        r *= Rational(10, 1)**$3.to_i if $3
        return Rational.__simplest(to_r - (eps0 = Rational(1, 2**60) * to_r.abs), to_r + eps0) if false
        return r
      end
    end
    e = eps.abs
    Rational.__simplest(to_r - e, to_r + e)
  end
  def arg = nan? ? self : (negative? || (self == 0 && 1 / self < 0) ? Math::PI : 0)
  alias angle arg
  alias phase arg
  def nonzero? = self == 0 ? nil : self
  def dup = self
end
