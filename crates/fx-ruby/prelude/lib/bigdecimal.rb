# A decimal number: an integer and the power of ten it is multiplied by, or one of the values that
# are no number.
class BigDecimal < Numeric
  VERSION = "3.1.1"
  BASE = 1_000_000_000
  SIGN_NaN = 0
  SIGN_POSITIVE_ZERO, SIGN_NEGATIVE_ZERO = 1, -1
  SIGN_POSITIVE_FINITE, SIGN_NEGATIVE_FINITE = 2, -2
  SIGN_POSITIVE_INFINITE, SIGN_NEGATIVE_INFINITE = 3, -3
  EXCEPTION_ALL, EXCEPTION_INFINITY, EXCEPTION_NaN = 255, 1, 2
  EXCEPTION_UNDERFLOW, EXCEPTION_OVERFLOW, EXCEPTION_ZERODIVIDE = 4, 1, 16
  ROUND_MODE = 256
  ROUND_UP, ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_DOWN = 1, 2, 3, 4
  ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN = 5, 6, 7
  MODES_ = {
    up: 1, down: 2, truncate: 2, half_up: 3, default: 3, half_down: 4, half_even: 7, banker: 7,
    ceiling: 5, ceil: 5, floor: 6
  }
  class << self
    undef_method :new
    undef_method :allocate
    def __make(int, exp, special = nil, negative = false)
      o = Class.instance_method(:allocate).bind_call(self)
      o.__set(int, exp, special, negative)
      o.freeze
    end
    def __new(v, digits = nil, exception: true)
      case v
      when BigDecimal then digits.to_i > 0 ? v.__digits(digits) : v
      when Integer then __rounded(__make(v, 0), digits)
      when Float
        return __special(v.nan? ? :nan : v > 0 ? :inf : :ninf) unless v.finite?
        raise ArgumentError, "can't omit precision for a Float." if digits.nil?
        raise ArgumentError, "precision too large." if digits > 16
        r = __parse(v.to_s)
        digits.zero? ? r : r.__digits(digits)
      when Rational
        raise ArgumentError, "can't omit precision for a Rational." if digits.nil?
        __make(v.numerator, 0).div(__make(v.denominator, 0), digits)
      when nil then raise TypeError, "can't convert nil into BigDecimal"
      else
        raise TypeError, "can't convert #{v.class} into BigDecimal" unless v.respond_to?(:to_str)
        r = __parse(v.to_str.strip) or raise ArgumentError, "invalid value for BigDecimal(): #{v.to_str.inspect}"
        __rounded(r, digits)
      end
    rescue ArgumentError, TypeError
      raise if exception
    end
    def __rounded(v, digits) = digits.to_i > 0 ? v.__digits(digits) : v
    def __special(kind) = __make(0, 0, kind)
    # The number a text begins with and nothing behind it, or nil.
    def __parse(s)
      case s
      when /\A\+?Infinity\z/ then __special(:inf)
      when "-Infinity" then __special(:ninf)
      when "NaN" then __special(:nan)
      when /\A([-+]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:[eEdD]([-+]?\d+))?\z/
        sign, int, frac, exp = $1, $2, $3, $4
        return nil unless int || frac
        frac = frac.to_s.delete("_")
        n = (int.to_s.delete("_") + frac).to_i
        __make(sign == "-" ? -n : n, exp.to_i - frac.size, nil, sign == "-")
      end
    end
    def mode(which, value = nil)
      return 0 unless which == ROUND_MODE
      @mode = MODES_[value] || value if value
      @mode || ROUND_HALF_UP
    end
    def limit(*) = 0
    def double_fig = 16
    def save_rounding_mode = (old = mode(ROUND_MODE); begin; yield; ensure; @mode = old; end)
    def save_exception_mode = yield
    def save_limit = yield
    def _load(s) = __parse(s[/:(.*)/, 1])
    def interpret_loosely(s) = __parse(s.strip[/\A[-+]?\d*(?:\.\d+)?(?:[eE][-+]?\d+)?/].then { |t| t.empty? ? "0" : t })
  end
  def __set(int, exp, special, negative)
    @special, @negative = special, int.zero? ? negative : int < 0
    unless int.zero?
      zeros = int.to_s[/0*\z/].size
      int, exp = int / 10**zeros, exp + zeros if zeros > 0
    end
    @int, @exp = int, int.zero? ? 0 : exp
  end
  def __int = @int
  def __exp = @exp
  def nan? = @special == :nan
  def infinite? = { inf: 1, ninf: -1 }[@special]
  def finite? = @special.nil?
  def zero? = finite? && @int.zero?
  def nonzero? = zero? ? nil : self
  def negative? = !nan? && (self <=> 0) < 0
  def positive? = !nan? && (self <=> 0) > 0
  def sign = nan? ? 0 : infinite? ? 3 * infinite? : zero? ? (@negative ? -1 : 1) : (@negative ? -2 : 2)
  def __coerced(o, op)
    case o
    when BigDecimal then o
    when Integer then BigDecimal.__make(o, 0)
    when Float then BigDecimal.__new(o, 0)
    when Rational then BigDecimal.__new(o, [n_significant_digits * 2, 18].max)
    else
      unless o.respond_to?(:coerce)
        raise TypeError, "#{o.nil? || o == true || o == false ? o.inspect : o.class} can't be coerced into BigDecimal"
      end
      nil
    end
  end
  private :__coerced
  def __binary(o, op)
    other = __coerced(o, op)
    return (a, b = o.coerce(self); a.public_send(op, b)) unless other
    return BigDecimal.__special(:nan) if nan? || other.nan?
    yield other
  end
  def +(o)
    __binary(o, :+) do |b|
      if infinite? || b.infinite?
        next BigDecimal.__special(:nan) if infinite? && b.infinite? && infinite? != b.infinite?
        next BigDecimal.__special((infinite? || b.infinite?) > 0 ? :inf : :ninf)
      end
      e = [@exp, b.__exp].min
      BigDecimal.__make(@int * 10**(@exp - e) + b.__int * 10**(b.__exp - e), e)
    end
  end
  def -(o) = __binary(o, :-) { |b| self + -b }
  def *(o)
    __binary(o, :*) do |b|
      if infinite? || b.infinite?
        next BigDecimal.__special(zero? || b.zero? ? :nan : (__negative? ^ b.__negative?) ? :ninf : :inf)
      end
      BigDecimal.__make(@int * b.__int, @exp + b.__exp, nil, @negative ^ b.__negative?)
    end
  end
  def __negative? = @special == :ninf || @special.nil? && @negative
  def -@
    return self if nan?
    return BigDecimal.__special(infinite? > 0 ? :ninf : :inf) if infinite?
    BigDecimal.__make(-@int, @exp, nil, !@negative)
  end
  def +@ = self
  def abs = __negative? ? -self : self
  # Nine digits more than twice as many as either number has, at least 36.
  def /(o)
    __binary(o, :/) do |b|
      __ratio(b, [[n_significant_digits, b.n_significant_digits].max * 2, 32].max.then { |n| (n + 8) / 9 * 9 })
    end
  end
  alias quo /
  def __ratio(b, places, digits: nil)
    return BigDecimal.__special(b.infinite? ? :nan : __negative? ^ b.__negative? ? :ninf : :inf) if infinite?
    return BigDecimal.__make(0, 0) if b.infinite?
    return BigDecimal.__special(zero? ? :nan : __negative? ^ b.__negative? ? :ninf : :inf) if b.zero?
    scale = digits ? digits + b.exponent - exponent + 1 : places
    shift = @exp - b.__exp + scale
    n, d = @int, b.__int
    shift >= 0 ? n *= 10**shift : d *= 10**-shift
    q = n.abs / d.abs
    q = -q if (n < 0) ^ (d < 0)
    r = BigDecimal.__make(q, -scale)
    digits ? r.__digits(digits) : r
  end
  def div(o, digits = nil)
    return __binary(o, :/) { |b| __ratio(b, 0, digits: digits) } if digits && digits > 0
    return self / o if digits
    b = __coerced(o, :div) or raise TypeError, "#{o.class} can't be coerced into BigDecimal"
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if nan? || b.nan?
    raise FloatDomainError, "Computation results in '#{__negative? ^ b.__negative? ? "-" : ""}Infinity'" if infinite?
    raise ZeroDivisionError, "divided by 0" if b.zero?
    b.infinite? ? 0 : (to_r / b.to_r).floor
  end
  def divmod(o)
    b = __coerced(o, :divmod) or raise TypeError, "#{o.class} can't be coerced into BigDecimal"
    raise ZeroDivisionError, "divided by 0" if b.zero?
    q = BigDecimal.__make(div(b), 0)
    [q, self - q * b]
  end
  def %(o) = __binary(o, :%) { |b| divmod(b)[1] }
  alias modulo %
  def remainder(o) = __binary(o, :remainder) { |b| self - BigDecimal.__make((to_r / b.to_r).truncate, 0) * b }
  def **(n) = power(n)
  def power(n, digits = nil)
    return BigDecimal.__new(to_f**n, 0) unless n == n.to_i
    n = n.to_i
    r = BigDecimal.__make(@int**n.abs, @exp * n.abs)
    r = BigDecimal.__make(1, 0).__ratio(r, 0, digits: digits || [n_significant_digits * n.abs, 32].max) if n < 0
    digits.to_i > 0 ? r.__digits(digits) : r
  end
  def sqrt(digits = 0)
    raise FloatDomainError, "sqrt of negative value" if negative?
    raise FloatDomainError, "sqrt of 'NaN'(Not a Number)" if nan?
    digits = [digits, 16].max + 2
    shift = digits * 2 + @exp % 2
    BigDecimal.__make(Integer.sqrt(@int * 10**shift), (@exp - shift) / 2)
  end
  def add(o, digits) = (self + o).__digits(digits)
  def sub(o, digits) = (self - o).__digits(digits)
  def mult(o, digits) = (self * o).__digits(digits)
  def <=>(o)
    b = case o
        when BigDecimal, Integer, Float then __coerced(o, :<=>)
        when Rational then return finite? ? to_r <=> o : infinite?
        end
    return (c = o.coerce(self) and c[0] <=> c[1] if o.respond_to?(:coerce)) unless b
    return nil if nan? || b.nan?
    return (infinite? || 0) <=> (b.infinite? || 0) if infinite? || b.infinite?
    e = [@exp, b.__exp].min
    @int * 10**(@exp - e) <=> b.__int * 10**(b.__exp - e)
  end
  def ==(o) = Numeric === o || o.respond_to?(:coerce) ? (self <=> o) == 0 : false
  alias === ==
  alias eql? ==
  %i[< <= > >=].each do |op|
    define_method(op) do |o|
      c = self <=> o
      next c.public_send(op, 0) if c
      next false if nan? || (Float === o && o.nan?) || (BigDecimal === o && o.nan?)
      raise ArgumentError, "comparison of BigDecimal with #{o.nil? || Numeric === o ? o.inspect : o.class} failed"
    end
  end
  def hash = [@int, @exp, @special].hash
  def coerce(o) = [Rational === o ? BigDecimal.__new(o, [n_significant_digits, 18].max) : BigDecimal.__new(o, 0), self]
  # To so many digits in all.
  def __digits(n) = n.to_i <= 0 || !finite? || zero? ? self : __round(n - exponent, BigDecimal.mode(ROUND_MODE))
  def __round(places, mode)
    return self if !finite? || -@exp <= places
    unit = 10**(-@exp - places)
    q, r = @int.abs.divmod(unit)
    half = r * 2 <=> unit
    up = case mode
         when 1 then r > 0
         when 2 then false
         when 3 then half >= 0
         when 4 then half > 0
         when 5 then r > 0 && @int > 0
         when 6 then r > 0 && @int < 0
         else half > 0 || half == 0 && q.odd?
         end
    q += 1 if up
    BigDecimal.__make(@int < 0 ? -q : q, -places, nil, @negative)
  end
  def __whole
    raise FloatDomainError, "Computation results in 'NaN' (Not a Number)" if nan?
    raise FloatDomainError, "Computation results in '#{"-" if infinite? < 0}Infinity'" if infinite?
    @exp >= 0 ? @int * 10**@exp : (@int.abs / 10**-@exp) * (@int <=> 0)
  end
  def round(places = nil, mode = nil, half: nil)
    places, mode = nil, places if Symbol === places
    mode = { nil => mode, up: :half_up, down: :half_down, even: :half_even }[half&.to_sym] if half
    mode = BigDecimal.mode(ROUND_MODE) if mode.nil?
    mode = MODES_[mode.to_sym] || raise(ArgumentError, "invalid rounding mode") unless Integer === mode
    places.nil? || places < 1 ? __whole && __round(places || 0, mode).__whole : __round(places, mode)
  end
  def floor(places = nil) = places ? __round(places, 6) : __whole && __round(0, 6).__whole
  def ceil(places = nil) = places ? __round(places, 5) : __whole && __round(0, 5).__whole
  def truncate(places = nil) = places ? __round(places, 2) : __whole
  def fix = __round(0, 2)
  def frac = finite? ? self - fix : self
  def to_i = __whole
  alias to_int to_i
  def to_r = (__whole; Rational(@int) * Rational(10)**@exp)
  def to_f
    return Float::NAN if nan?
    return infinite? * Float::INFINITY if infinite?
    return @negative ? -0.0 : 0.0 if zero?
    "#{@int}e#{@exp}".to_f
  end
  def to_d = self
  def to_digits = finite? ? to_s("F") : to_s
  def n_significant_digits = zero? || !finite? ? 0 : @int.abs.to_s.size
  def exponent = zero? || !finite? ? 0 : n_significant_digits + @exp
  def scale = zero? || !finite? ? 0 : [-@exp, 0].max
  def precision = zero? || !finite? ? 0 : exponent > 0 ? n_significant_digits + [@exp, 0].max : scale
  def precision_scale = [precision, scale]
  def precs = [[(n_significant_digits + 8) / 9, 1].max * 9, ([(n_significant_digits + 8) / 9, 1].max + 1) * 9]
  def split = [nan? ? 0 : __negative? ? -1 : 1, finite? ? @int.abs.to_s : to_s.delete("-"), 10, exponent]
  def to_s(form = nil)
    form = form.to_s
    sign = __negative? ? "-" : form.start_with?("+") ? "+" : form.start_with?(" ") ? " " : ""
    return nan? ? "NaN" : "#{sign}Infinity" unless finite?
    group = form[/\d+/].to_i
    digits = @int.abs.to_s
    split = ->(s) { group > 0 ? s.scan(/.{1,#{group}}/).join(" ") : s }
    if form.match?(/F\z/i)
      return "#{sign}0.0" if zero?
      int, frac = if @exp >= 0 then [digits + "0" * @exp, "0"]
                  elsif digits.size > -@exp then [digits[0...@exp], digits[@exp..]]
                  else ["0", digits.rjust(-@exp, "0")]
                  end
      return "#{sign}#{split.(int)}.#{split.(frac)}"
    end
    zero? ? "#{sign}0.0" : "#{sign}0.#{split.(digits)}e#{exponent}"
  end
  def inspect = to_s
  def _dump(*) = "#{precs[1]}:#{self}"
  def clone(*) = self
  def dup = self
  NAN = __special(:nan)
  INFINITY = __special(:inf)
end
class Integer
  def to_d = BigDecimal.__new(self)
end
class Float
  def to_d(digits = 0) = BigDecimal.__new(self, digits)
end
class String
  def to_d = BigDecimal.interpret_loosely(self)
end
class Rational
  def to_d(digits) = BigDecimal.__new(self, digits)
end
class NilClass
  def to_d = BigDecimal.__new(0)
end
