# Date and DateTime. A date before its `start` is in the Julian calendar.
require "time"

class Date
  include Comparable

  class Error < ArgumentError; end

  ITALY = 2299161
  ENGLAND = 2361222
  GREGORIAN = -Float::INFINITY
  JULIAN = Float::INFINITY
  MONTHNAMES = [
    nil, "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December"
  ].freeze
  ABBR_MONTHNAMES = MONTHNAMES.map { |name| name && name[0, 3] }.freeze
  DAYNAMES = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].freeze
  ABBR_DAYNAMES = DAYNAMES.map { |name| name[0, 3] }.freeze
  EPOCH_JD = 2440588

  class << self
    def leap?(year) = (year % 4).zero? && (year % 100 != 0 || (year % 400).zero?)
    alias gregorian_leap? leap?
    def julian_leap?(year) = (year % 4).zero?

    def civil_to_jd_(year, month, day, start = GREGORIAN)
      a = (14 - month) / 12
      y = year + 4800 - a
      m = month + 12 * a - 3
      days = day + (153 * m + 2) / 5 + 365 * y + y / 4
      jd = days - y / 100 + y / 400 - 32045
      jd < start ? days - 32083 : jd
    end

    def jd_to_civil_(jd, start = GREGORIAN)
      if jd < start
        b = 0
        c = jd + 32082
      else
        a = jd + 32044
        b = (4 * a + 3) / 146097
        c = a - 146097 * b / 4
      end
      d = (4 * c + 3) / 1461
      e = c - 1461 * d / 4
      m = (5 * e + 2) / 153
      [100 * b + d - 4800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1]
    end

    # The last day of a month that exists, as a Julian day number.
    def month_end_(year, month, start = GREGORIAN)
      31.downto(28) do |day|
        jd = civil_to_jd_(year, month, day, start)
        return jd if jd_to_civil_(jd, start) == [year, month, day]
      end
    end

    def valid_jd_for_(year, month, day, start = ITALY)
      return nil unless [year, month, day].all? { |part| part.is_a?(Numeric) }
      month += 13 if month.negative?
      return nil unless (1..12).cover?(month)
      day = day.floor
      jd = day.negative? ? month_end_(year, month, start) + day + 1 : civil_to_jd_(year, month, day, start)
      found = jd_to_civil_(jd, start)
      found[0] == year && found[1] == month && (day.negative? || found[2] == day) ? jd : nil
    end

    def valid_civil?(year, month, day, start = ITALY) = !valid_jd_for_(year, month, day, start).nil?
    alias valid_date? valid_civil?
    def valid_jd?(jd, _start = ITALY) = jd.is_a?(Numeric)

    def civil(year = -4712, month = 1, day = 1, start = ITALY)
      raise TypeError, "invalid year (not numeric)" unless year.is_a?(Numeric)
      raise TypeError, "invalid month (not numeric)" unless month.is_a?(Numeric)
      raise TypeError, "invalid day (not numeric)" unless day.is_a?(Numeric)
      from_jd_(valid_jd_for_(year, month, day, start) || raise(Error, "invalid date"), 0, 0, start)
    end
    alias new civil

    def from_jd_(jd, seconds = 0, offset = 0, start = ITALY)
      date = allocate
      date.__send__(:fill_, jd, seconds, offset, start)
      date
    end

    def jd(jd = 0, start = ITALY) = from_jd_(jd.floor, 0, 0, start)

    def ordinal_jd_(year, day, start)
      jd = day.negative? ? civil_to_jd_(year, 12, 31, start) + day + 1 : civil_to_jd_(year, 1, 1, start) + day - 1
      jd_to_civil_(jd, start)[0] == year && !day.zero? ? jd : nil
    end

    def valid_ordinal?(year, day, start = ITALY) = !ordinal_jd_(year, day, start).nil?

    def ordinal(year = -4712, day = 1, start = ITALY)
      from_jd_(ordinal_jd_(year, day, start) || raise(Error, "invalid date"), 0, 0, start)
    end

    def week_start_(year, start = ITALY)
      fourth = civil_to_jd_(year, 1, 4, start)
      fourth - (fourth % 7)
    end

    def valid_commercial?(year, week, day, _start = ITALY)
      day += 8 if day.negative?
      week = (week_start_(year + 1) + 7 * week - week_start_(year)) / 7 + 1 if week.negative?
      (1..7).cover?(day) && week >= 1 && week_start_(year) + 7 * (week - 1) < week_start_(year + 1)
    end

    def commercial(year = -4712, week = 1, day = 1, start = ITALY)
      raise Error, "invalid date" unless valid_commercial?(year, week, day)
      day += 8 if day.negative?
      week = (week_start_(year + 1) + 7 * week - week_start_(year)) / 7 + 1 if week.negative?
      from_jd_(week_start_(year) + 7 * (week - 1) + day - 1, 0, 0, start)
    end

    def today(start = ITALY)
      now = Time.now
      civil(now.year, now.month, now.day, start)
    end

    def _load(text) = Marshal.load(text)
  end

  attr_reader :jd

  def year = civil_[0]
  def month = civil_[1]
  def day = civil_[2]
  alias mon month
  alias mday day
  def wday = (@jd + 1) % 7
  def yday = @jd - Date.civil_to_jd_(year, 1, 1, @start) + 1
  def cwday = wday.zero? ? 7 : wday
  def cwyear
    guess = year + 1
    guess -= 1 while @jd < Date.week_start_(guess)
    guess
  end
  def cweek = (@jd - Date.week_start_(cwyear)) / 7 + 1
  def mjd = @jd - 2400001
  def ld = @jd - 2299160
  def ajd = Rational(@jd * 2 - 1, 2) + Rational(@seconds - @offset, 86400)
  def day_fraction = Rational(@seconds, 86400)
  def amjd = ajd - Rational(4800001, 2)
  def start = @start.to_f
  def julian? = @jd < @start
  def gregorian? = !julian?
  def new_start(start = ITALY) = self.class.from_jd_(@jd, @seconds, @offset, start)
  def italy = new_start(ITALY)
  def england = new_start(ENGLAND)
  def julian = new_start(JULIAN)
  def gregorian = new_start(GREGORIAN)
  def leap? = Date.jd_to_civil_(Date.civil_to_jd_(year, 3, 1, @start) - 1, @start)[2] == 29
  DAYNAMES.each_with_index { |name, i| define_method("#{name.downcase}?") { wday == i } }

  def +(other)
    raise TypeError, "expected numeric" unless other.is_a?(Numeric)
    shift_(other)
  end

  def -(other)
    case other
    when Date
      Rational(@jd - other.jd, 1) + Rational((@seconds - @offset) - (other.seconds_ - other.offset_), 86400)
    when Numeric then shift_(-other)
    else raise TypeError, "expected numeric"
    end
  end

  def >>(months)
    raise TypeError, "expected numeric" unless months.is_a?(Numeric)
    total = year * 12 + month - 1 + months.to_i
    y, m = total.div(12), total % 12 + 1
    d = day
    d -= 1 until (jd = Date.valid_jd_for_(y, m, d, @start))
    self.class.from_jd_(jd, @seconds, @offset, @start)
  end

  def <<(months)
    raise TypeError, "expected numeric" unless months.is_a?(Numeric)
    self >> -months
  end

  def next_day(n = 1) = self + n
  def prev_day(n = 1) = self - n
  def next_month(n = 1) = self >> n
  def prev_month(n = 1) = self << n
  def next_year(n = 1) = self >> n * 12
  def prev_year(n = 1) = self << n * 12
  def next = next_day
  alias succ next

  def <=>(other)
    case other
    when Date then ajd <=> other.ajd
    when Numeric then ajd <=> other
    end
  end

  def ==(other) = (other.is_a?(Date) || other.is_a?(Numeric)) && (self <=> other) == 0
  def ===(other) = other.is_a?(Date) ? @jd == other.jd : other.is_a?(Numeric) && @jd == other
  def eql?(other) = other.is_a?(Date) && self == other
  def hash = ajd.hash

  def step(limit, by = 1)
    return to_enum(:step, limit, by) unless block_given?
    date = self
    if by.positive?
      while date <= limit
        yield date
        date += by
      end
    elsif by.negative?
      while date >= limit
        yield date
        date += by
      end
    end
    self
  end

  def upto(max, &block) = block ? step(max, 1, &block) : to_enum(:upto, max)
  def downto(min, &block) = block ? step(min, -1, &block) : to_enum(:downto, min)

  def strftime(format = "%F")
    format = format.to_str
    if format.match?(/%[-0^#_]*\d*[ZQ+]/)
      format = format.gsub("%+", "%a %b %e %H:%M:%S %Z %Y").gsub(/%([-0^#_]*\d*)Z/, '%\\1:z')
      format = format.gsub("%Q") { ((ajd - Rational(4881175, 2)) * 86_400_000).to_i.to_s }
    end
    clock_.strftime(format)
  end
  def to_s = strftime("%Y-%m-%d")
  def iso8601 = to_s
  alias xmlschema iso8601
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  def rfc3339 = strftime("%FT%T%:z")
  def httpdate = strftime("%a, %d %b %Y %T GMT")
  def asctime = strftime("%a %b %e %T %Y")
  alias ctime asctime
  def inspect
    from = @start.is_a?(Float) ? (@start.positive? ? "Inf" : "-Inf") : @start
    "#<#{self.class}: #{self} ((#{@jd}j,#{(@seconds - @offset).to_i}s,0n),+#{@offset}s,#{from}j)>"
  end
  def to_date = Date.from_jd_(@jd, 0, 0, @start)
  def to_datetime = DateTime.from_jd_(@jd, @seconds, @offset, @start)
  def to_time = Time.local(*(julian? ? Date.jd_to_civil_(@jd) : civil_))
  def deconstruct_keys(_keys) = { year: year, month: month, day: day, wday: wday, yday: yday }
  def marshal_dump = [0, @jd, @seconds, 0, @offset, @start]
  def marshal_load(parts) = fill_(parts[1], parts[2], parts[4], parts[5])

  protected

  def seconds_ = @seconds
  def offset_ = @offset

  private

  def fill_(jd, seconds, offset, start = ITALY)
    days, @seconds = seconds.divmod(86400)
    @jd = jd + days
    @offset = offset
    @start = start
  end

  def civil_ = @civil_ ||= Date.jd_to_civil_(@jd, @start)

  def shift_(days)
    whole = days.floor
    self.class.from_jd_(@jd + whole, @seconds + (days - whole) * 86400, @offset, @start)
  end

  def clock_
    y, m, d = julian? ? Date.jd_to_civil_(@jd) : civil_
    time = Time.new(y, m, d, (@seconds.to_i / 3600) % 24, @seconds.to_i / 60 % 60, @seconds % 60, @offset)
    return time unless julian?
    %i[year month day yday].each { |part| (value = __send__(part); time.define_singleton_method(part) { value }) }
    time
  end
end

class Date::Infinity < Numeric
  attr_reader :d
  def initialize(d = 1) = @d = d <=> 0
  def zero? = false
  def finite? = false
  def infinite? = d.nonzero?
  def nan? = d.zero?
  def abs = self.class.new
  def -@ = self.class.new(-d)
  def +@ = self.class.new(+d)
  def <=>(other)
    case other
    when Date::Infinity then d <=> other.d
    when Numeric then d
    end
  end
  def coerce(other) = other.is_a?(Numeric) ? [-d, d] : super
  def to_f = d.zero? ? Float::NAN : (d.positive? ? Float::INFINITY : -Float::INFINITY)
end

class DateTime < Date
  class << self
    def civil(year = -4712, month = 1, day = 1, hour = 0, minute = 0, second = 0, offset = 0, start = Date::ITALY)
      jd = valid_jd_for_(year, month, day, start) or raise Date::Error, "invalid date"
      hour += 24 if hour.negative?
      minute += 60 if minute.negative?
      second += 60 if second.negative?
      unless (0..24).cover?(hour) && (0..59).cover?(minute) && second >= 0 && second < 60
        raise Date::Error, "invalid date"
      end
      from_jd_(jd, hour * 3600 + minute * 60 + second, seconds_of_(offset), start)
    end
    alias new civil

    def seconds_of_(offset)
      case offset
      when String then Time.zone_offset(offset) || 0
      when Numeric then (offset * 86400).to_i
      else 0
      end
    end

    def jd(jd = 0, hour = 0, minute = 0, second = 0, offset = 0, _start = Date::ITALY)
      from_jd_(jd.floor, hour * 3600 + minute * 60 + second, seconds_of_(offset))
    end

    def now(_start = Date::ITALY) = Time.now.to_datetime

    def parse(text = "-4712-01-01T00:00:00+00:00", comp = true, _start = Date::ITALY, limit: 128)
      parts = _parse(text.to_str, comp)
      raise Date::Error, "invalid date" if parts.empty?
      dated = %i[year mon mday wday cwyear].any? { |part| parts.key?(part) }
      date = dated ? Date.from_parts_(parts) : Date.today
      seconds = (parts[:hour] || 0) * 3600 + (parts[:min] || 0) * 60 + (parts[:sec] || 0) + (parts[:sec_fraction] || 0)
      from_jd_(date.jd, seconds, parts[:offset] || 0)
    end

    def strptime(text = "-4712-01-01T00:00:00+00:00", format = "%FT%T%z", _start = Date::ITALY)
      Time.strptime(text, format).to_datetime
    rescue ArgumentError
      raise Date::Error, "invalid date"
    end
  end

  def hour = @seconds.to_i / 3600
  def minute = @seconds.to_i / 60 % 60
  def second = @seconds.to_i % 60
  def sec_fraction = @seconds.to_r % 1
  alias min minute
  alias sec second
  alias second_fraction sec_fraction
  def offset = Rational(@offset, 86400)
  def zone = strftime("%:z")

  def new_offset(offset = 0)
    wanted = DateTime.seconds_of_(offset)
    DateTime.from_jd_(@jd, @seconds - @offset + wanted, wanted, @start)
  end

  def to_s = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def strftime(format = "%FT%T%:z") = super
  def iso8601(digits = 0) = strftime("%Y-%m-%dT%H:%M:%S#{digits.positive? ? ".%#{digits}N" : ""}%:z")
  alias xmlschema iso8601
  alias rfc3339 iso8601
  def to_datetime = self
  def to_time = clock_
  def deconstruct_keys(keys)
    super.merge(hour: hour, minute: minute, second: second, sec_fraction: sec_fraction, zone: zone)
  end
end

class Time
  def to_date = Date.from_jd_(Date.civil_to_jd_(year, month, day))
  def to_datetime = DateTime.from_jd_(to_date.jd, hour * 3600 + min * 60 + sec + subsec, utc_offset)
  def to_time = self
end

require "date/parse"
