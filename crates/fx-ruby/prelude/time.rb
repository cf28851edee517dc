class Time
  MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].freeze
  FULL_MONTHS = %w[January February March April May June July August September October November December].freeze
  DAYS = %w[Sun Mon Tue Wed Thu Fri Sat].freeze
  FULL_DAYS = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].freeze
  private_constant :MONTHS, :FULL_MONTHS, :DAYS, :FULL_DAYS
  # The moment as eight bytes, as dumps of objects hold it: fields in bits, little-endian.
  private def _dump(*)
    t = getutc
    raise ArgumentError, "year too big to marshal: #{t.year} UTC" unless t.year.between?(1900, 1900 + 0xffff)
    high = 1 << 31 | (utc? ? 1 : 0) << 30 | (t.year - 1900) << 14 | (t.mon - 1) << 10 | t.mday << 5 | t.hour
    [high, t.min << 26 | t.sec << 20 | t.usec].pack("VV")
  end
  private def __marshal_extras
    list = []
    below = nsec % 1000
    unless below == 0
      digits = below.digits.reverse
      digits.unshift(0) while digits.size < 3
      bytes = [digits[0] << 4 | digits[1], digits[2] << 4]
      bytes.pop if bytes[1] == 0
      list << [:nano_num, below] << [:nano_den, 1] << [:submicro, bytes.pack("C*")]
    end
    list << [:zone, zone]
    utc? ? list : list << [:offset, utc_offset]
  end
  class << self
    private def _load(bytes, more = {})
      high, low = bytes.b.unpack("VV")
      return at(high, low) if high & 1 << 31 == 0
      nanos = (low & 0xfffff) * 1000 + (more[:nano_num] || 0)
      day = [(high >> 14 & 0xffff) + 1900, (high >> 10 & 15) + 1, high >> 5 & 31]
      t = utc(*day, high & 31, low >> 26 & 63, low >> 20 & 63, Rational(nanos, 1000))
      return t if high & 1 << 30 != 0
      more[:offset] ? t.localtime(more[:offset]) : t.localtime
    end
    def __off(v)
      if String === v && !v.encoding.ascii_compatible?
        raise ArgumentError, "time zone must be in ASCII compatible encoding"
      end
      case v
      when nil then nil
      when Integer then raise(ArgumentError, "utc_offset out of range") if v.abs >= 86400; v
      when "UTC", "Z", "-00:00" then :utc
      when /\A([+-])(\d\d):?(\d\d)(?::?(\d\d))?\z/
        if $3.to_i > 59
          raise ArgumentError,
            "\"+HH:MM\", \"-HH:MM\", \"UTC\" or \"A\"..\"I\",\"K\"..\"Z\" expected for utc_offset: #{v}"
        end
        raise ArgumentError, "utc_offset out of range" if $2.to_i > 23
        ($1 == "-" ? -1 : 1) * ($2.to_i * 3600 + $3.to_i * 60 + $4.to_i)
      when /\A([+-])(\d\d)\z/ then ($1 == "-" ? -1 : 1) * $2.to_i * 3600
      when /\A[A-IK-Z]\z/ then (v <= "I" ? v.ord - 64 : v <= "M" ? v.ord - 65 : v == "Z" ? 0 : -(v.ord - 77)) * 3600
      when String
        return __off(find_timezone(v)) if respond_to?(:find_timezone)
        raise ArgumentError,
          "\"+HH:MM\", \"-HH:MM\", \"UTC\" or \"A\"..\"I\",\"K\"..\"Z\" expected for utc_offset: #{v}"
      else
        if v.respond_to?(:to_int) then v.to_int
        elsif v.respond_to?(:to_r) && !v.nil?
          r = v.to_r
          r.denominator == 1 ? r.to_i : r
        elsif v.respond_to?(:utc_to_local) || v.respond_to?(:local_to_utc) then v
        elsif v.respond_to?(:to_str) then __off(v.to_str)
        else raise TypeError, "can't convert #{v.class} into an exact number"
        end
      end
    end
    # Whole seconds of a moment that a zone object gave, whatever kind it is.
    def __stamp(v)
      return v if Integer === v
      return v.to_i + (Time === v && !v.utc? ? v.utc_offset : 0) if v.respond_to?(:to_i)
      raise ArgumentError, "can't convert #{v.class} into an exact number"
    end
    def __in_zone(ns, zone)
      utc = Time.__ns(ns, :utc)
      raise TypeError, "can't convert #{zone.class} into an exact number" unless zone.respond_to?(:utc_to_local)
      off = __stamp(zone.utc_to_local(utc)) - utc.to_i
      raise ArgumentError, "utc_offset out of range" if off.abs >= 86400
      t = allocate
      t.__set(ns, off, false, true, nil, false)
      t.instance_variable_set(:@__tz, zone)
      t
    end
    def __ns(ns, off)
      t = allocate
      ns = ns.floor
      case off
      when :utc then t.__set(ns, 0, true, false, "UTC", false)
      when nil
        o, dst, z = __zone(ns.div(1_000_000_000))
        t.__set(ns, o, false, false, z, dst)
      when Numeric then t.__set(ns, off.floor, false, true, nil, false)
      else return __in_zone(ns, off)
      end
      t
    end
    def now(in: nil)
      o = __off(binding.local_variable_get(:in))
      a = Process.__now
      __ns(a[0] * 1_000_000_000 + a[1], o)
    end
    def at(t, sub = (whole = true; nil), unit = :microsecond, in: nil)
      if !whole && !(Numeric === sub || (sub.respond_to?(:to_int) && !(String === sub)))
        raise TypeError, "can't convert #{sub.class} into an exact number"
      end
      raise TypeError, "can't convert Time into an exact number" if Time === t && !whole
      sub = sub.to_int if !whole && !(Numeric === sub)
      o = __off(binding.local_variable_get(:in))
      if Time === t
        return __ns(t.__ns, o || (t.__utc ? :utc : t.__fixed ? t.__off : nil)) unless sub
        t = t.to_r
      end
      unless Numeric === t || t.respond_to?(:to_int) || t.respond_to?(:to_r) && !t.nil? && !(String === t)
        raise TypeError, "can't convert #{t.nil? ? "nil" : t.class} into an exact number"
      end
      if !(Numeric === t)
        raise TypeError, "can't convert #{t.class} into an exact number" unless t.respond_to?(:to_int)
        t = t.respond_to?(:to_r) && !t.respond_to?(:to_int) ? t.to_r : t.to_int
      end
      ns = Integer === t ? t * 1_000_000_000 : (t.to_r * 1_000_000_000).floor
      if sub
        units = { microsecond: 1000, usec: 1000, millisecond: 1_000_000, nanosecond: 1, nsec: 1 }
        mul = units[unit] || raise(ArgumentError, "unexpected unit: #{unit}")
        ns += Integer === sub ? sub * mul : (sub.to_r * mul).floor
      end
      __ns(ns, o)
    end
    def __i(v, d)
      return d if v.nil?
      v = v.to_str if !(String === v) && v.respond_to?(:to_str)
      String === v ? Integer(v, 10) : (Integer === v ? v : Array.__to_int(v))
    end
    def __make(off, y, m = nil, d = nil, h = nil, mi = nil, s = nil, us = nil)
      y = __i(y, nil)
      if String === m && (i = MONTHS.index(m.capitalize)) then m = i + 1
      else m = __i(m, 1)
      end
      d = __i(d, 1)
      h = __i(h, 0)
      mi = __i(mi, 0)
      sec = case s
            when nil then 0
            when String then s =~ /\./ ? s.to_r : Integer(s, 10)
            when Numeric then s
            else Array.__to_int(s)
            end
      raise ArgumentError, "mon out of range" unless (1..12) === m
      unless (1..31) === d && (0..24) === h && (0..59) === mi && sec >= 0 && sec < 61
        raise ArgumentError, "argument out of range"
      end
      raise ArgumentError, "argument out of range" if h == 24 && (mi > 0 || sec > 0)
      raise ArgumentError, "argument out of range" if us && Numeric === us && !(us >= 0 && us < 1_000_000)
      sec = sec.to_i if us
      ns = ((__days(y, m, d) * 86400 + h * 3600 + mi * 60) * 1_000_000_000) + (sec.to_r * 1_000_000_000).floor
      ns += (us.to_r * 1000).floor if us
      case off
      when :utc then __ns(ns, :utc)
      when nil
        s0 = ns.div(1_000_000_000)
        o = __zone(s0)[0]
        o = __zone(s0 - o)[0]
        __ns(ns - o * 1_000_000_000, nil)
      when Numeric then __ns((ns - off * 1_000_000_000).floor, off)
      else
        raise TypeError, "can't convert #{off.class} into an exact number" unless off.respond_to?(:local_to_utc)
        there = __stamp(off.local_to_utc(Time.__ns(ns, :utc)))
        t = allocate
        away = ns.div(1_000_000_000) - there
        raise ArgumentError, "utc_offset out of range" if away.abs >= 86400
        t.__set(ns - away * 1_000_000_000, away, false, true, nil, false)
        t.instance_variable_set(:@__tz, off)
        t
      end
    end
    def new(y = (none = true; nil), m = nil, d = nil, h = nil, mi = nil, s = nil, zone = nil, in: nil)
      z = binding.local_variable_get(:in)
      raise ArgumentError, "timezone argument given as positional and keyword arguments" if z && zone
      o = __off(zone || z)
      t = none ? (a = Process.__now; __ns(a[0] * 1_000_000_000 + a[1], o)) : __make(o, y, m, d, h, mi, s)
      t
    end
    def utc(*a) = (a = [a[5], a[4], a[3], a[2], a[1], a[0]] if a.size == 10; __make(:utc, *a))
    alias gm utc
    def local(*a) = (a = [a[5], a[4], a[3], a[2], a[1], a[0]] if a.size == 10; __make(nil, *a))
    alias mktime local
  end
  def __local = __ns + __off * 1_000_000_000
  def __date = Time.__civil(__local.div(86_400_000_000_000))
  def year = __date[0]
  def month = __date[1]
  alias mon month
  def day = __date[2]
  alias mday day
  def __sod = __local.div(1_000_000_000) % 86400
  def hour = __sod / 3600
  def min = __sod % 3600 / 60
  def sec = __sod % 60
  def nsec = __ns % 1_000_000_000
  alias tv_nsec nsec
  def usec = nsec / 1000
  alias tv_usec usec
  def subsec = (n = nsec) == 0 ? 0 : Rational(n, 1_000_000_000)
  def wday = (__local.div(86_400_000_000_000) + 4) % 7
  def yday = __local.div(86_400_000_000_000) - Time.__days(year, 1, 1) + 1
  FULL_DAYS.each_with_index { |n, i| define_method(:"#{n.downcase}?") { wday == i } }
  def to_i = __ns.div(1_000_000_000)
  alias tv_sec to_i
  def to_f = __ns / 1e9
  def to_r = Rational(__ns, 1_000_000_000)
  def utc_offset = __off
  alias gmt_offset utc_offset
  alias gmtoff utc_offset
  def utc? = __utc
  alias gmt? utc?
  def isdst = __dst
  alias dst? isdst
  def zone = @__tz || __zone
  def utc
    return self if __utc
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    remove_instance_variable(:@__tz) if @__tz
    __set(__ns, 0, true, false, "UTC", false)
    self
  end
  alias gmtime utc
  def getutc = Time.__ns(__ns, :utc)
  alias getgm getutc
  def localtime(o = nil)
    o = Time.__off(o)
    if o.nil?
      a = Time.__zone(to_i)
      __set(__ns, a[0], false, false, a[2], a[1])
    elsif o == :utc then utc
    else __set(__ns, o, false, true, nil, false)
    end
    self
  end
  def getlocal(o = nil) = Time.__ns(__ns, Time.__off(o))
  def __like(ns) = Time.__ns(ns, __utc ? :utc : @__tz || (__fixed ? __off : nil))
  def +(n)
    raise TypeError, "time + time?" if Time === n
    unless Numeric === n || (n.respond_to?(:to_r) && !n.nil? && !(String === n))
      raise TypeError, "can't convert #{n.class} into an exact number"
    end
    __like(Integer === n ? __ns + n * 1_000_000_000 : (__ns + n.to_r * 1_000_000_000).floor)
  end
  def -(n)
    return (__ns - n.__ns) / 1e9 if Time === n
    unless Numeric === n || (n.respond_to?(:to_r) && !n.nil? && !(String === n))
      raise TypeError, "can't convert #{n.class} into an exact number"
    end
    __like(Integer === n ? __ns - n * 1_000_000_000 : (__ns - n.to_r * 1_000_000_000).floor)
  end
  def <=>(o)
    return __ns <=> o.__ns if Time === o
    r = (o <=> self)
    return nil if r.nil?
    r > 0 ? -1 : (r < 0 ? 1 : 0)
  end
  def ==(o) = Time === o && __ns == o.__ns
  def eql?(o) = Time === o && __ns == o.__ns
  def hash = __ns.hash
  def round(n = 0) = __like((Rational(__ns, 1_000_000_000).round(n) * 1_000_000_000).to_i)
  def floor(n = 0) = __like((Rational(__ns, 1_000_000_000).floor(n) * 1_000_000_000).to_i)
  def ceil(n = 0) = __like((Rational(__ns, 1_000_000_000).ceil(n) * 1_000_000_000).to_i)
  def to_a = [sec, min, hour, day, month, year, wday, yday, isdst, zone]
  def deconstruct_keys(k)
    h = {
      year: year, month: month, day: day, yday: yday, wday: wday, hour: hour, min: min, sec: sec, subsec: subsec,
      dst: dst?, zone: zone
    }
    k ? h.slice(*k) : h
  end
  def initialize_copy(o) = __set(o.__ns, o.__off, o.__utc, o.__fixed, o.__zone, o.__dst)
  def to_s = (utc? ? strftime("%Y-%m-%d %H:%M:%S UTC") : strftime("%Y-%m-%d %H:%M:%S %z")).force_encoding("US-ASCII")
  def inspect
    f = nsec == 0 ? "" : "." + ("%09d" % nsec).sub(/0+\z/, "")
    (strftime("%Y-%m-%d %H:%M:%S") + f + (utc? ? " UTC" : strftime(" %z"))).force_encoding("US-ASCII")
  end
  def ctime = strftime("%a %b %e %H:%M:%S %Y")
  alias asctime ctime
  def __week(start)
    (yday - 1 + 7 - (wday - start) % 7) / 7
  end
  def __iso
    d = __local.div(86_400_000_000_000)
    wd = (wday + 6) % 7
    th = Time.__civil(d - wd + 3)
    [th[0], (d - wd + 3 - Time.__days(th[0], 1, 1)) / 7 + 1]
  end
  def __z(colons)
    o = __off
    s = o < 0 ? "-" : "+"
    o = o.abs
    h, m, x = o / 3600, o % 3600 / 60, o % 60
    case colons
    when 0 then format("%s%02d%02d", s, h, m)
    when 1 then format("%s%02d:%02d", s, h, m)
    else format("%s%02d:%02d:%02d", s, h, m, x)
    end
  end
  def strftime(fmt)
    fmt = fmt.to_str
    fmt.gsub(/%([-0^#_]*)(\d+)?([:]{0,3})([EO]?)([a-zA-Z%])/m) do |all|
      flags, width, colons, c = $1, $2, $3.size, $5
      num = nil
      pad, w = "0", 2
      v = case c
          when "Y" then num = year; w = year < 0 ? 5 : 4; year
          when "C" then num = year.div(100)
          when "y" then num = year % 100
          when "m" then num = month
          when "d" then num = day
          when "e" then pad = " "; num = day
          when "j" then w = 3; num = yday
          when "H" then num = hour
          when "k" then pad = " "; num = hour
          when "I" then num = (hour + 11) % 12 + 1
          when "l" then pad = " "; num = (hour + 11) % 12 + 1
          when "M" then num = min
          when "S" then num = sec
          when "s" then w = 1; num = to_i
          when "u" then w = 1; num = wday == 0 ? 7 : wday
          when "w" then w = 1; num = wday
          when "G" then w = 4; num = __iso[0]
          when "g" then num = __iso[0] % 100
          when "V" then num = __iso[1]
          when "U" then num = __week(0)
          when "W" then num = __week(1)
          when "B" then FULL_MONTHS[month - 1]
          when "b", "h" then MONTHS[month - 1]
          when "A" then FULL_DAYS[wday]
          when "a" then DAYS[wday]
          when "p" then hour < 12 ? "AM" : "PM"
          when "P" then hour < 12 ? "am" : "pm"
          when "L" then next ("%09d" % nsec).ljust((width || 3).to_i, "0")[0, (width || 3).to_i]
          when "N" then next ("%09d" % nsec).ljust((width || 9).to_i, "0")[0, (width || 9).to_i]
          when "z"
            z = __z(colons)
            z = z.sub("+", "-") if flags.include?("-") && utc?
            if flags.include?("_") && !flags.include?("-")
              z = z.sub(/([-+])0(\d)/, '\1\2')
              next z.rjust([width.to_i, z.size + 1].max)
            end
            z
          when "Z"
            if !@__tz then zone || ""
            elsif @__tz.respond_to?(:abbr) then @__tz.abbr(self)
            else @__tz.respond_to?(:name) ? @__tz.name : ""
            end
          when "D", "x" then strftime("%m/%d/%y")
          when "F" then strftime("%Y-%m-%d")
          when "T", "X" then strftime("%H:%M:%S")
          when "R" then strftime("%H:%M")
          when "r" then strftime("%I:%M:%S %p")
          when "c" then strftime("%a %b %e %H:%M:%S %Y")
          when "v" then strftime("%e-%^b-%Y")
          when "n" then "\n"
          when "t" then "\t"
          when "%" then "%"
          else next all
          end
      if num
        pad = flags.delete("^_0")[-1] == "_" ? " " : "0" if flags.match?(/[_0]/)
        s = num.abs.to_s
        if flags.include?("-") then s = (num < 0 ? "-" : "") + s
        else
          ww = (width || w).to_i
          s = if pad != "0" then ((num < 0 ? "-" : "") + s).rjust(ww)
              elsif num < 0 then "-" + s.rjust(ww - 1, "0")
              else s.rjust(ww, "0")
              end
        end
        v = s
      else
        v = v.upcase if flags.include?("^")
        v = v == v.upcase ? v.downcase : v.upcase if flags.include?("#")
        if width
          offset = c == "z"
          v = if flags.include?("-") && !offset then v
              elsif offset && !flags.include?("_") && !flags.include?("-") then v[0] + v[1..].rjust(width.to_i - 1, "0")
              else v.rjust(width.to_i, flags.delete("^_0")[-1] == "0" ? "0" : " ")
              end
        end
      end
      v
    end.force_encoding(fmt.encoding)
  end
end
