# Date and DateTime in the proleptic Gregorian calendar; the reform of 1582 is not applied.
require "time"

class Date
  include Comparable

  class Error < ArgumentError; end

  ITALY = 2299161
  ENGLAND = 2361222
  GREGORIAN = -Float::INFINITY
  JULIAN = Float::INFINITY
  MONTHNAMES = [nil, "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"].freeze
  ABBR_MONTHNAMES = MONTHNAMES.map { |name| name && name[0, 3] }.freeze
  DAYNAMES = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].freeze
  ABBR_DAYNAMES = DAYNAMES.map { |name| name[0, 3] }.freeze
  EPOCH_JD = 2440588

  class << self
    def leap?(year) = (year % 4).zero? && (year % 100 != 0 || (year % 400).zero?)
    alias gregorian_leap? leap?

    def month_days_(year, month) = month == 2 && leap?(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]

    def civil_to_jd_(year, month, day)
      a = (14 - month) / 12
      y = year + 4800 - a
      m = month + 12 * a - 3
      day + (153 * m + 2) / 5 + 365 * y + y / 4 - y / 100 + y / 400 - 32045
    end

    def jd_to_civil_(jd)
      a = jd + 32044
      b = (4 * a + 3) / 146097
      c = a - 146097 * b / 4
      d = (4 * c + 3) / 1461
      e = c - 1461 * d / 4
      m = (5 * e + 2) / 153
      [100 * b + d - 4800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1]
    end

    def valid_jd_for_(year, month, day)
      return nil unless [year, month, day].all? { |part| part.is_a?(Numeric) }
      month += 13 if month.negative?
      return nil unless (1..12).cover?(month)
      length = month_days_(year, month)
      day = length + day + 1 if day.negative?
      return nil unless (1..length).cover?(day)
      civil_to_jd_(year, month, day.floor)
    end

    def valid_civil?(year, month, day, _start = ITALY) = !valid_jd_for_(year, month, day).nil?
    alias valid_date? valid_civil?

    def civil(year = -4712, month = 1, day = 1, _start = ITALY)
      raise TypeError, "invalid year (not numeric)" unless year.is_a?(Numeric)
      raise TypeError, "invalid month (not numeric)" unless month.is_a?(Numeric)
      raise TypeError, "invalid day (not numeric)" unless day.is_a?(Numeric)
      from_jd_(valid_jd_for_(year, month, day) || raise(Error, "invalid date"))
    end
    alias new civil

    def from_jd_(jd, seconds = 0, offset = 0)
      date = allocate
      date.__send__(:fill_, jd, seconds, offset)
      date
    end

    def jd(jd = 0, _start = ITALY) = from_jd_(jd.floor)

    def valid_ordinal?(year, day, _start = ITALY) = (1..(leap?(year) ? 366 : 365)).cover?(day.negative? ? (leap?(year) ? 367 : 366) + day : day)

    def ordinal(year = -4712, day = 1, _start = ITALY)
      raise Error, "invalid date" unless valid_ordinal?(year, day)
      day += (leap?(year) ? 367 : 366) if day.negative?
      from_jd_(civil_to_jd_(year, 1, 1) + day - 1)
    end

    def week_start_(year)
      fourth = civil_to_jd_(year, 1, 4)
      fourth - (fourth % 7)
    end

    def valid_commercial?(year, week, day, _start = ITALY)
      day += 8 if day.negative?
      week = (week_start_(year + 1) + 7 * week - week_start_(year)) / 7 + 1 if week.negative?
      (1..7).cover?(day) && week >= 1 && week_start_(year) + 7 * (week - 1) < week_start_(year + 1)
    end

    def commercial(year = -4712, week = 1, day = 1, _start = ITALY)
      raise Error, "invalid date" unless valid_commercial?(year, week, day)
      day += 8 if day.negative?
      week = (week_start_(year + 1) + 7 * week - week_start_(year)) / 7 + 1 if week.negative?
      from_jd_(week_start_(year) + 7 * (week - 1) + day - 1)
    end

    def today(_start = ITALY)
      now = Time.now
      civil(now.year, now.month, now.day)
    end

    def parse(text = "-4712-01-01", comp = true, _start = ITALY, limit: 128)
      raise TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String" unless text.respond_to?(:to_str)
      text = text.to_str
      raise ArgumentError, "string length (#{text.size}) exceeds the limit #{limit}" if limit && text.size > limit
      parts = _parse(text, comp)
      from_parts_(parts)
    end

    def iso8601(text = "-4712-01-01", _start = ITALY, limit: 128) = parse(text, limit: limit)
    alias xmlschema iso8601
    alias rfc3339 iso8601
    alias jisx0301 iso8601
    alias rfc2822 iso8601
    alias rfc822 iso8601
    alias httpdate iso8601

    def from_parts_(parts)
      return ordinal(parts[:year], parts[:yday]) if parts[:year] && parts[:yday]
      return commercial(parts[:cwyear], parts[:cweek], parts[:cwday] || 1) if parts[:cwyear] && parts[:cweek]
      raise Error, "invalid date" if parts.empty?
      now = today
      if parts[:wday] && !parts[:mday] && !parts[:mon]
        return now - now.wday + parts[:wday]
      end
      raise Error, "invalid date" unless parts[:mday] || parts[:mon] || parts[:year]
      civil(parts[:year] || now.year, parts[:mon] || (parts[:year] ? 1 : now.month), parts[:mday] || 1)
    end

    def _parse(text, comp = true, limit: 128)
      parts = {}
      rest = text.dup
      if rest.sub!(/(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap]\.?m\.?\b)?\s*(z\b|utc\b|gmt\b|[a-z]{3,4}\b|[-+]\d{1,2}:?\d{0,2})?/i, " ")
        parts[:hour], parts[:min] = $1.to_i, $2.to_i
        parts[:sec] = $3.to_i if $3
        parts[:sec_fraction] = Rational($4.to_i, 10**$4.size) if $4
        half, zone = $5, $6
        parts[:hour] = parts[:hour] % 12 + (half =~ /\Ap/i ? 12 : 0) if half
        if zone
          parts[:zone] = zone
          parts[:offset] = Time.zone_offset(zone) || 0
        end
      end
      months = ABBR_MONTHNAMES.compact.join("|")
      days = ABBR_DAYNAMES.join("|")
      parts[:wday] = ABBR_DAYNAMES.index($1.capitalize) if rest.sub!(/\b(#{days})[a-z]*\b\.?/i, " ")
      case rest
      when /(-?\d{4,})-(\d{1,2})-(\d{1,2})/, %r{(\d{4})[/.](\d{1,2})[/.](\d{1,2})}
        parts[:year], parts[:mon], parts[:mday] = $1.to_i, $2.to_i, $3.to_i
      when /(\d{4})-w(\d{2})(?:-(\d))?/i
        parts[:cwyear], parts[:cweek] = $1.to_i, $2.to_i
        parts[:cwday] = $3.to_i if $3
      when /\b(\d{4})-(\d{3})\b/
        parts[:year], parts[:yday] = $1.to_i, $2.to_i
      when /\b(\d{1,2})(?:st|nd|rd|th)?[\s\-.]+(#{months})[a-z]*[\s\-.,]*('?-?\d+)?/i
        parts[:mday], parts[:mon] = $1.to_i, ABBR_MONTHNAMES.index($2.capitalize)
        parts[:year] = full_year_($3, comp) if $3
      when /\b(#{months})[a-z]*\.?\s*(\d{1,2})(?:st|nd|rd|th)?\b(?:[\s,]+('?-?\d+))?/i
        parts[:mon], parts[:mday] = ABBR_MONTHNAMES.index($1.capitalize), $2.to_i
        parts[:year] = full_year_($3, comp) if $3
      when /\b(#{months})[a-z]*[\s,]+(\d{4})/i
        parts[:mon], parts[:year] = ABBR_MONTHNAMES.index($1.capitalize), $2.to_i
      when /\b(#{months})[a-z]*\b/i
        parts[:mon] = ABBR_MONTHNAMES.index($1.capitalize)
      when /\b(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?)?/
        parts[:year], parts[:mon], parts[:mday] = $1.to_i, $2.to_i, $3.to_i
        parts[:hour], parts[:min], parts[:sec] = $4.to_i, $5.to_i, $6.to_i if $4
      when /\b(\d{4})-(\d{2})\b/
        parts[:year], parts[:mon] = $1.to_i, $2.to_i
      when %r{\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{1,4})\b}
        parts[:year], parts[:mon], parts[:mday] = full_year_($1, comp), $2.to_i, $3.to_i
      when /\b(\d{2})(\d{2})(\d{2})\b/
        parts[:year], parts[:mon], parts[:mday] = full_year_($1, comp), $2.to_i, $3.to_i
      when /\b(\d{4})\b/
        parts[:year] = $1.to_i
      when /\b(\d{3})\b/
        parts[:yday] = $1.to_i
        parts[:year] = Time.now.year
      when /\b(\d{1,2})\b/
        parts[:mday] = $1.to_i
      end
      parts
    end

    def full_year_(text, comp)
      year = text.delete("'").to_i
      return year unless comp && text.delete("'").size <= 2 && year >= 0
      year + (year < 69 ? 2000 : 1900)
    end

    def strptime(text = "-4712-01-01", format = "%F", _start = ITALY)
      time = Time.strptime(text, format)
      civil(time.year, time.month, time.day)
    rescue ArgumentError
      raise Error, "invalid date"
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
  def yday = @jd - Date.civil_to_jd_(year, 1, 1) + 1
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
  def start = ITALY
  def julian? = false
  def gregorian? = true
  def gregorian = self
  def new_start(_start = ITALY) = self
  def leap? = Date.leap?(year)
  DAYNAMES.each_with_index { |name, i| define_method("#{name.downcase}?") { wday == i } }

  def +(other)
    raise TypeError, "expected numeric" unless other.is_a?(Numeric)
    shift_(other)
  end

  def -(other)
    case other
    when Date then Rational(@jd - other.jd, 1) + Rational((@seconds - @offset) - (other.seconds_ - other.offset_), 86400)
    when Numeric then shift_(-other)
    else raise TypeError, "expected numeric"
    end
  end

  def >>(months)
    raise TypeError, "expected numeric" unless months.is_a?(Numeric)
    total = year * 12 + month - 1 + months.to_i
    y, m = total.div(12), total % 12 + 1
    self.class.from_jd_(Date.civil_to_jd_(y, m, [day, Date.month_days_(y, m)].min), @seconds, @offset)
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

  def strftime(format = "%F") = clock_.strftime(format)
  def to_s = strftime("%Y-%m-%d")
  def iso8601 = to_s
  alias xmlschema iso8601
  def rfc2822 = strftime("%a, %-d %b %Y %T %z")
  alias rfc822 rfc2822
  def rfc3339 = strftime("%FT%T%:z")
  def httpdate = strftime("%a, %d %b %Y %T GMT")
  def asctime = strftime("%a %b %e %T %Y")
  alias ctime asctime
  def inspect = "#<#{self.class}: #{self} ((#{@jd}j,#{(@seconds - @offset).to_i}s,0n),+#{@offset}s,2299161j)>"
  def to_date = Date.from_jd_(@jd)
  def to_datetime = DateTime.from_jd_(@jd, @seconds, @offset)
  def to_time = Time.local(year, month, day)
  def deconstruct_keys(_keys) = { year: year, month: month, day: day, wday: wday, yday: yday }
  def marshal_dump = [0, @jd, @seconds, 0, @offset, ITALY]
  def marshal_load(parts) = fill_(parts[1], parts[2], parts[4])

  protected

  def seconds_ = @seconds
  def offset_ = @offset

  private

  def fill_(jd, seconds, offset)
    days, @seconds = seconds.divmod(86400)
    @jd = jd + days
    @offset = offset
  end

  def civil_ = @civil_ ||= Date.jd_to_civil_(@jd)

  def shift_(days)
    whole = days.floor
    self.class.from_jd_(@jd + whole, @seconds + (days - whole) * 86400, @offset)
  end

  def clock_
    Time.new(year, month, day, (@seconds.to_i / 3600) % 24, @seconds.to_i / 60 % 60, @seconds % 60, @offset)
  end
end

class DateTime < Date
  class << self
    def civil(year = -4712, month = 1, day = 1, hour = 0, minute = 0, second = 0, offset = 0, _start = Date::ITALY)
      jd = valid_jd_for_(year, month, day) or raise Date::Error, "invalid date"
      hour += 24 if hour.negative?
      minute += 60 if minute.negative?
      second += 60 if second.negative?
      raise Date::Error, "invalid date" unless (0..24).cover?(hour) && (0..59).cover?(minute) && second >= 0 && second < 60
      from_jd_(jd, hour * 3600 + minute * 60 + second, seconds_of_(offset))
    end
    alias new civil

    def seconds_of_(offset)
      case offset
      when String then Time.zone_offset(offset) || 0
      when Numeric then (offset * 86400).to_i
      else 0
      end
    end

    def jd(jd = 0, hour = 0, minute = 0, second = 0, offset = 0, _start = Date::ITALY) = from_jd_(jd.floor, hour * 3600 + minute * 60 + second, seconds_of_(offset))

    def now(_start = Date::ITALY) = Time.now.to_datetime

    def parse(text = "-4712-01-01T00:00:00+00:00", comp = true, _start = Date::ITALY, limit: 128)
      parts = _parse(text.to_str, comp)
      raise Date::Error, "invalid date" if parts.empty?
      date = parts.key?(:year) || parts.key?(:mon) || parts.key?(:mday) || parts.key?(:wday) || parts.key?(:cwyear) ? Date.from_parts_(parts) : Date.today
      from_jd_(date.jd, (parts[:hour] || 0) * 3600 + (parts[:min] || 0) * 60 + (parts[:sec] || 0) + (parts[:sec_fraction] || 0), parts[:offset] || 0)
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
    DateTime.from_jd_(@jd, @seconds - @offset + wanted, wanted)
  end

  def to_s = strftime("%Y-%m-%dT%H:%M:%S%:z")
  def strftime(format = "%FT%T%:z") = super
  def iso8601(digits = 0) = strftime("%Y-%m-%dT%H:%M:%S#{digits.positive? ? ".%#{digits}N" : ""}%:z")
  alias xmlschema iso8601
  alias rfc3339 iso8601
  def to_datetime = self
  def to_time = clock_
  def deconstruct_keys(keys) = super.merge(hour: hour, minute: minute, second: second, sec_fraction: sec_fraction, zone: zone)
end

class Time
  def to_date = Date.civil(year, month, day)
  def to_datetime = DateTime.from_jd_(to_date.jd, hour * 3600 + min * 60 + sec + subsec, utc_offset)
  def to_time = self
end
