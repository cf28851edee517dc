class Rational < Numeric
  class << self
    undef_method :new rescue nil
    def __make(n, d)
      r = allocate
      r.__init(n, d)
      r
    end
    def __reduce(n, d)
      raise ZeroDivisionError, "divided by 0" if d == 0
      n, d = -n, -d if d < 0
      g = n.gcd(d)
      __make(n / g, d / g)
    end
    def __parse(s, strict = false)
      number = /\A\s*([+-]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)(?:\/(\d[\d_]*))?/
      m = (strict ? /#{number}\s*\z/ : number).match(s)
      return strict ? nil : __make(0, 1) unless m
      t = m[1].delete("_")
      t =~ /\A([+-]?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?\z/
      r = __reduce(($1 + $2.to_s).to_i, 10**$2.to_s.size)
      r *= __reduce(10, 1)**$3.to_i if $3
      m[2] ? r / m[2].delete("_").to_i : r
    end
    def __convert(a, b, exc)
      raise TypeError, "can't convert nil into Rational" if a.nil? || b.nil?
      conv = lambda do |v|
        case v
        when Integer, Rational then v
        when Float then v.to_r
        when String then __parse(v, true) || raise(ArgumentError, "invalid value for convert(): #{v.inspect}")
        when Complex then v.imaginary == 0 ? v.real.to_r : v
        else
          if v.respond_to?(:to_r) then v.to_r
          elsif v.respond_to?(:to_int) then v.to_int
          else raise TypeError, "can't convert #{v.class} into Rational"
          end
        end
      end
      a, b = conv.(a), conv.(b)
      return __reduce(a, b) if Integer === a && Integer === b
      r = a / b
      Integer === r ? __make(r, 1) : r
    rescue ArgumentError, TypeError
      raise if exc
      nil
    end
    def __simplest(lo, hi)
      return __make(lo.ceil, 1) if lo.ceil <= hi
      f = lo.floor
      r = __simplest(1 / (hi - f), 1 / (lo - f))
      f + 1 / r
    end
  end
  attr_reader :numerator, :denominator
  def __init(n, d) = (@numerator, @denominator = n, d; freeze)
  def __bin(o, m)
    a, b = o.coerce(self)
    a.__send__(m, b)
  end
  def __chk(o)
    raise TypeError, "#{o.nil? ? "nil" : o.class} can't be coerced into Rational" unless o.respond_to?(:coerce)
  end
  private :__bin, :__chk
  def +(o)
    case o
    when Integer then Rational.__make(@numerator + o * @denominator, @denominator)
    when Rational
      Rational.__reduce(@numerator * o.denominator + o.numerator * @denominator, @denominator * o.denominator)
    when Float then to_f + o
    else __chk(o); __bin(o, :+)
    end
  end
  def -(o)
    case o
    when Integer then Rational.__make(@numerator - o * @denominator, @denominator)
    when Rational
      Rational.__reduce(@numerator * o.denominator - o.numerator * @denominator, @denominator * o.denominator)
    when Float then to_f - o
    else __chk(o); __bin(o, :-)
    end
  end
  def *(o)
    case o
    when Integer then Rational.__reduce(@numerator * o, @denominator)
    when Rational then Rational.__reduce(@numerator * o.numerator, @denominator * o.denominator)
    when Float then to_f * o
    else __chk(o); __bin(o, :*)
    end
  end
  def /(o)
    case o
    when Integer then Rational.__reduce(@numerator, @denominator * o)
    when Rational then Rational.__reduce(@numerator * o.denominator, @denominator * o.numerator)
    when Float then to_f / o
    else __chk(o); __bin(o, :/)
    end
  end
  alias quo /
  def **(o)
    return Rational.__make(1, 1) if o == 0
    case o
    when Integer
      return Rational.__make(@numerator**o, @denominator**o) if o >= 0
      raise ZeroDivisionError, "divided by 0" if @numerator == 0
      Rational.__reduce(@denominator**-o, @numerator**-o)
    when Float, Rational then to_f**o
    else __bin(o, :**)
    end
  end
  def -@ = Rational.__make(-@numerator, @denominator)
  def abs = Rational.__make(@numerator.abs, @denominator)
  alias magnitude abs
  def <=>(o)
    case o
    when Integer then @numerator <=> o * @denominator
    when Rational then @numerator * o.denominator <=> o.numerator * @denominator
    when Float then o.infinite? ? -o.infinite? : (o.nan? ? nil : self <=> o.to_r)
    else o.respond_to?(:coerce) && Numeric === o ? __bin(o, :<=>) : nil
    end
  end
  def ==(o)
    case o
    when Integer then @denominator == 1 && @numerator == o
    when Rational then @numerator == o.numerator && @denominator == o.denominator
    when Float then to_f == o
    else o == self
    end
  end
  def coerce(o)
    case o
    when Integer then [Rational.__make(o, 1), self]
    when Float then [o, to_f]
    when Rational then [o, self]
    when Complex then o.imaginary == 0 ? [Rational(o.real, 1), self] : [o, Complex(self, 0)]
    else raise TypeError, "#{o.class} can't be coerced into Rational"
    end
  end
  def hash = [@numerator, @denominator, :r].hash
  def eql?(o) = Rational === o && self == o
  def zero? = @numerator == 0
  def positive? = @numerator > 0
  def negative? = @numerator < 0
  def to_i = @numerator < 0 ? -(-@numerator / @denominator) : @numerator / @denominator
  def to_f = @numerator.fdiv(@denominator)
  def to_r = self
  def to_c = Complex(self, 0)
  def __digits(n)
    return yield(self) if n == 0
    s = 10**n.abs
    n > 0 ? Rational(yield(self * s), s) : yield(self / s) * s
  end
  def floor(n = 0) = (r = __digits(n) { |x| x.numerator.div(x.denominator) })
  def ceil(n = 0) = __digits(n) { |x| -(-x.numerator).div(x.denominator) }
  def truncate(n = 0) = __digits(n) { |x| x.to_i }
  def round(n = 0, half: nil)
    unless [nil, :up, :down, :even, "up", "down", "even"].include?(half)
      raise ArgumentError, "invalid rounding mode: #{half}"
    end
    __digits(n) do |x|
      d = x.denominator
      q, r = x.numerator.abs.divmod(d)
      c = (r * 2) <=> d
      q += 1 if c > 0 || (c == 0 && (half.nil? || half.to_s == "up" || (half.to_s == "even" && q.odd?)))
      x.numerator < 0 ? -q : q
    end
  end
  def rationalize(eps = nil) = eps ? Rational.__simplest(self - eps.abs, self + eps.abs) : self
  def divmod(o) = (q = (self / o).floor; [q, self - o * q])
  def %(o) = self - o * (self / o).floor
  def fdiv(o) = to_f / o
  def to_s = "#{@numerator}/#{@denominator}"
  def inspect = "(#{self})"
  def integer? = false
end
class Complex < Numeric
  class << self
    undef_method :new rescue nil
    def rect(r, i = 0) = __make(r, i)
    def rectangular(r, i = 0) = __make(r, i)
    def polar(m, a = 0) = a == 0 ? __make(m, 0) : __make(m * Math.cos(a), m * Math.sin(a))
    def __make(r, i) = (c = allocate; c.__init(r, i); c)
    # The number at the start of a text, or nil in its place if it must be all of it and is not.
    def __parse(s, strict = false)
      unless s.encoding.ascii_compatible?
        raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{s.encoding}"
      end
      return strict ? raise(ArgumentError, "string contains null byte") : __parse(s[/\A[^\0]*/]) if s.include?("\0")
      digits = /\d+(?:_\d+)*/
      real = /#{digits}(?:\.#{digits})?(?:[eE][-+]?#{digits})?/
      number = /#{real}(?:\/#{digits})?/
      s = s.b
      cartesian = /(?<r>[-+]?#{number})(?:(?<i>[-+](?:#{number})?)[iIjJ])?/
      polar = /(?<r>[-+]?#{number})@(?<a>[-+]?#{number})/
      m = /\A\s*(?:(?<i>[-+]?(?:#{number})?)[iIjJ]|#{polar}|#{cartesian})/.match(s)
      return strict ? nil : __make(0, 0) unless m
      return nil if strict && !m.post_match.match?(/\A\s*\z/)
      return polar(__part(m[:r]), __part(m[:a])) if m[:a]
      __make(m[:r] ? __part(m[:r]) : 0, m[:i] ? __part(m[:i]) : 0)
    end
    def __part(t)
      t = t.delete("_")
      case t
      when "", "+" then 1
      when "-" then -1
      when /\// then (a, b = t.split("/"); a =~ /[.eE]/ ? Rational(a) / b.to_i : Rational(a.to_i, b.to_i))
      when /[.eE]/ then t.to_f
      else t.to_i
      end
    end
    def __none = NONE
    def __whole(s) = __parse(s, true) || raise(ArgumentError, "invalid value for convert(): #{s.inspect}")
    def __convert(a, b, exc)
      raise ArgumentError, "expected true or false as exception: #{exc.inspect}" unless true == exc || false == exc
      raise TypeError, "can't convert nil into Complex" if a.nil? || (b.nil? && !b.equal?(NONE))
      if String === a || String === b
        begin
          a = __whole(a) if String === a
          b = __whole(b) if String === b
        rescue ArgumentError
          raise if exc
          return nil
        end
      end
      if b.equal?(NONE)
        return a if Numeric === a && !a.real?
        return __make(a, 0) if Numeric === a
        return a.to_c if a.respond_to?(:to_c)
        raise TypeError, "can't convert #{a.class} into Complex"
      end
      raise TypeError, "not a real" unless Numeric === b
      raise TypeError, "not a real" unless Numeric === a
      a.real? && b.real? ? __make(a, b) : (Complex === a && b.equal?(0) ? a : a + b * I)
    rescue TypeError
      raise if exc || (Numeric === b && !(Numeric === a) && !a.nil?)
      nil
    end
  end
  NONE = Object.new
  private_constant :NONE
  attr_reader :real, :imaginary
  alias imag imaginary
  def __init(r, i) = (@real, @imaginary = r, i; freeze)
  def +(o)
    Complex === o ? Complex.__make(@real + o.real, @imaginary + o.imaginary) : Complex.__make(@real + o, @imaginary)
  end
  def -(o)
    Complex === o ? Complex.__make(@real - o.real, @imaginary - o.imaginary) : Complex.__make(@real - o, @imaginary)
  end
  def *(o)
    return Complex.__make(@real * o, @imaginary * o) unless Complex === o
    Complex.__make(@real * o.real - @imaginary * o.imaginary, @real * o.imaginary + @imaginary * o.real)
  end
  def /(o)
    return Complex.__make(@real.quo(o), @imaginary.quo(o)) unless Complex === o
    d = o.real * o.real + o.imaginary * o.imaginary
    n = self * o.conj
    Complex.__make(n.real.quo(d), n.imaginary.quo(d))
  end
  alias quo /
  def **(o)
    return Complex.__make(1, 0) if o == 0
    if Integer === o && o > 0
      r = self
      (o - 1).times { r *= self }
      return r
    end
    return Complex.__make(1, 0) / self**-o if Integer === o
    r, t = polar
    Complex.polar(r**o, t * o)
  end
  def -@ = Complex.__make(-@real, -@imaginary)
  def conj = Complex.__make(@real, -@imaginary)
  alias conjugate conj
  def abs = Math.hypot(@real.to_f, @imaginary.to_f)
  alias magnitude abs
  def abs2 = @real * @real + @imaginary * @imaginary
  def arg = Math.atan2(@imaginary.to_f, @real.to_f)
  alias angle arg
  alias phase arg
  def polar = [abs, arg]
  def rect = [@real, @imaginary]
  alias rectangular rect
  def real? = false
  def ==(o)
    return @real == o.real && @imaginary == o.imaginary if Complex === o
    Numeric === o ? @imaginary == 0 && @real == o : o == self
  end
  def <=>(o)
    return nil unless @imaginary == 0 && Numeric === o && (!(Complex === o) || o.imaginary == 0)
    @real <=> (Complex === o ? o.real : o)
  end
  def coerce(o)
    return [o, self] if Complex === o
    raise TypeError, "#{o.class} can't be coerced into Complex" unless Numeric === o
    [Complex.__make(o, 0), self]
  end
  def hash = [@real, @imaginary, :c].hash
  def eql?(o) = Complex === o && @real.eql?(o.real) && @imaginary.eql?(o.imaginary)
  def to_c = self
  def to_i
    @imaginary == 0 && Integer === @imaginary ? @real.to_i : raise(RangeError, "can't convert #{self} into Integer")
  end
  def to_f
    @imaginary == 0 && Integer === @imaginary ? @real.to_f : raise(RangeError, "can't convert #{self} into Float")
  end
  def to_r
    @imaginary == 0 && Integer === @imaginary ? @real.to_r : raise(RangeError, "can't convert #{self} into Rational")
  end
  def to_s = __text(@real.to_s, @imaginary.abs.to_s)
  def inspect = "(#{__text(@real.inspect, @imaginary.abs.inspect)})"
  def __text(real, imaginary)
    sign = @imaginary.negative? || (Float === @imaginary && 1 / @imaginary < 0) ? "-" : "+"
    "#{real}#{sign}#{imaginary}#{"*" unless imaginary.match?(/\d\z/)}i"
  end
  private :__text
  def finite? = @real.finite? && @imaginary.finite?
  def infinite? = @real.infinite? || @imaginary.infinite? ? 1 : nil
  I = __make(0, 1)
end
