autoload :Date, "date"
autoload :DateTime, "date"
class Time
  def to_time = self
  def to_date = (require "date"; to_date)
  def to_datetime = (require "date"; to_datetime)
  ZONES_ = {
    "UTC" => 0, "GMT" => 0, "Z" => 0, "UT" => 0, "EST" => -18000, "EDT" => -14400, "CST" => -21600,
    "CDT" => -18000, "MST" => -25200, "MDT" => -21600, "PST" => -28800, "PDT" => -25200,
    "CET" => 3600, "CEST" => 7200, "JST" => 32400, "BST" => 3600
  }
  class << self
    def zone_offset(z, y = now.year)
      return ZONES_[z.upcase] unless z =~ /\A(?:gmt|utc)?([+-])(\d\d?):?(\d\d)?:?(\d\d)?\z/i
      ($1 == "-" ? -1 : 1) * ($2.to_i * 3600 + $3.to_i * 60 + $4.to_i)
    end
    def __build(y, m, d, h, mi, s, z)
      return Time.utc(y, m, d, h, mi, s) if %w[Z UTC -00:00 -0000 -00 z].include?(z)
      o = z && zone_offset(z)
      o ? Time.new(y, m, d, h, mi, s, o) : Time.local(y, m, d, h, mi, s)
    end
    def iso8601(s)
      s =~ /\A\s*([-+]?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i or
        raise ArgumentError, "invalid xmlschema date: #{s.inspect}"
      z = $8
      z = z + ":00" if z && z.size == 3
      __build($1.to_i, $2.to_i, $3.to_i, $4.to_i, $5.to_i, $6.to_r + ($7 ? "0#{$7}".to_r : 0), z)
    end
    alias xmlschema iso8601
    def parse(s, now = nil)
      t = s.to_s.dup
      raise ArgumentError, "no time information in #{s.inspect}" if t.strip.empty?
      n = now || Time.now
      y = m = d = nil
      h = mi = 0
      sec = 0
      z = nil
      got = false
      if t.sub!(/(\d{1,2}):(\d\d)(?::(\d\d)(\.\d+)?)?\s*([ap]m)?\s*(Z\b|UTC|GMT|[+-]\d\d:?\d\d|[A-Z]{3,4}\b)?/i, " ")
        h, mi, sec = $1.to_i, $2.to_i, $3.to_i
        sec += "0#{$4}".to_r if $4
        ap = $5
        z = $6
        h = h % 12 + (ap.downcase == "pm" ? 12 : 0) if ap
        got = true
      end
      mon = MONTHS.map(&:downcase)
      if t =~ /(\d{4})-(\d{1,2})-(\d{1,2})/ || t =~ %r{(\d{4})/(\d{1,2})/(\d{1,2})}
        y, m, d = $1.to_i, $2.to_i, $3.to_i
      elsif t =~ /\b(\d{1,2})(?:st|nd|rd|th)?[\s-]+(#{mon.join("|")})[a-z]*[\s,-]*(\d{2,4})?/i
        d, m, y = $1.to_i, mon.index($2.downcase) + 1, $3&.to_i
      elsif t =~ /\b(#{mon.join("|")})[a-z]*\s+(\d{1,2})(?:st|nd|rd|th)?(?:[\s,]+(\d{4}))?/i
        m, d, y = mon.index($1.downcase) + 1, $2.to_i, $3&.to_i
      elsif t =~ /\b(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?)?/
        y, m, d = $1.to_i, $2.to_i, $3.to_i
        h, mi, sec = $4.to_i, $5.to_i, $6.to_i if $4
      elsif t =~ /\b(\d{4})-(\d{2})\b/ then y, m, d = $1.to_i, $2.to_i, 1
      elsif !got then raise ArgumentError, "no time information in #{s.inspect}"
      end
      y += y < 69 ? 2000 : 1900 if y && y < 100
      raise ArgumentError, "argument out of range" if m && !(1..12).cover?(m)
      __build(y || n.year, m || n.month, d || n.day, h, mi, sec, z)
    end
    # The parts that a text has by a format, or nil where it does not fit.
    def __parts(text, format)
      parts = {}
      at = __scan(text, 0, format, parts) or return nil
      parts[:leftover] = text[at..] if at < text.size
      if (century = parts.delete(:_cent))
        %i[year cwyear].each { |k| parts[k] += century * 100 if parts[k] }
      end
      half = parts.delete(:_half)
      parts[:hour] = parts[:hour] % 12 + half if half && parts[:hour]
      parts
    end
    FORMS_ = {
      "c" => "%a %b %e %H:%M:%S %Y", "D" => "%m/%d/%y", "x" => "%m/%d/%y", "F" => "%Y-%m-%d",
      "R" => "%H:%M", "r" => "%I:%M:%S %p", "T" => "%H:%M:%S", "X" => "%H:%M:%S",
      "v" => "%e-%b-%Y", "+" => "%a %b %e %H:%M:%S %Z %Y"
    }
    NUMBERS_ = {
      "d" => [:mday, 2, 1..31], "e" => [:mday, 2, 1..31], "H" => [:hour, 2, 0..24],
      "k" => [:hour, 2, 0..24], "I" => [:hour, 2, 1..12], "l" => [:hour, 2, 1..12],
      "j" => [:yday, 3, 1..366], "M" => [:min, 2, 0..59], "m" => [:mon, 2, 1..12],
      "S" => [:sec, 2, 0..60], "U" => [:wnum0, 2, 0..53], "W" => [:wnum1, 2, 0..53],
      "V" => [:cweek, 2, 1..53], "u" => [:cwday, 1, 1..7], "w" => [:wday, 1, 0..6]
    }
    # Goes through the format; the place in the text after it, or nil.
    def __scan(text, at, format, parts)
      rest = format
      until rest.empty?
        if (m = /\A%[-_0^#]?[EO]?:*([A-Za-z%+])/.match(rest))
          rest = m.post_match
          at = if FORMS_[m[1]] then __scan(text, at, FORMS_[m[1]], parts)
               else __field(text, at, m[1], parts, rest.match?(/\A(\d|%[EO]?[CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy\d])/))
               end
          return nil unless at
        elsif rest.match?(/\A\s/)
          rest = rest.lstrip
          at += text[at..][/\A\s*/].size
        else
          return nil unless text[at] == rest[0]
          rest = rest[1..]
          at += 1
        end
      end
      at
    end
    def __field(text, at, kind, parts, digits_follow)
      tail = text[at..]
      take = ->(re) { tail[re]&.tap { |t| at += t.size } }
      if (key, size, range = NUMBERS_[kind])
        v = take.(/\A ?\d{1,#{size}}/) or return nil
        parts[key] = v.to_i
        return range.cover?(v.to_i) ? at : nil
      end
      case kind
      when "%" then take.(/\A%/) or return nil
      when "A", "a", "B", "b", "h"
        days = kind == "A" || kind == "a"
        names = days ? %w[
          sunday monday tuesday wednesday thursday friday saturday
        ] : %w[january february march april may june july august september october november december]
        i = names.index { |n| take.(/\A#{n}/i) } || names.index { |n| take.(/\A#{n[0, 3]}/i) } or return nil
        days ? parts[:wday] = i : parts[:mon] = i + 1
      when "Y", "G"
        v = take.(digits_follow ? /\A[-+]?\d{1,4}/ : /\A[-+]?\d+/) or return nil
        parts[kind == "Y" ? :year : :cwyear] = v.to_i
      when "y", "g"
        v = take.(/\A\d{1,2}/) or return nil
        parts[kind == "y" ? :year : :cwyear] = v.to_i
        parts[:_cent] ||= v.to_i >= 69 ? 19 : 20
      when "C" then v = take.(/\A[-+]?\d{1,2}/) or return nil; parts[:_cent] = v.to_i
      when "P", "p" then v = take.(/\A[ap]\.?m\.?/i) or return nil; parts[:_half] = v.match?(/\Ap/i) ? 12 : 0
      when "L", "N"
        v = take.(digits_follow ? /\A\d{1,#{kind == "L" ? 3 : 9}}/ : /\A\d+/) or return nil
        parts[:sec_fraction] = Rational(v.to_i, 10**v.size)
      when "s" then v = take.(/\A-?\d+/) or return nil; parts[:seconds] = v.to_i
      when "Q" then v = take.(/\A-?\d+/) or return nil; parts[:seconds] = Rational(v.to_i, 1000)
      when "n", "t" then take.(/\A\s*/)
      when "Z", "z"
        offset = /(?:gmt|utc)?[-+]\d+(?:[,.:]\d+(?::\d+)?)?/i
        v = take.(/\A(?:#{offset}|[a-z]+(?:\s+(?:standard|daylight)\s+time|\s+dst)?\b)/i) or return nil
        parts[:zone], parts[:offset] = v, zone_offset(v)
      else v = take.(/\A%?#{kind}/) or return nil
      end
      at
    end
    def strptime(text, format, now = nil)
      d = __parts(text, format) or raise ArgumentError, "invalid date or strptime format - `#{text}' `#{format}'"
      zone = d[:zone]
      if d[:seconds]
        t = at(d[:seconds] + (d[:sec_fraction] || 0))
        return t unless zone
        return t.utc if %w[Z UTC -00:00 -0000 -00].include?(zone.upcase)
        return (o = zone_offset(zone)) ? t.localtime(o) : t
      end
      now ||= Time.now
      if d[:yday] || d[:cwyear] || d[:cweek] || d[:wnum0] || d[:wnum1]
        require "date"
        day = Date.__of_parts(d)
        d[:year], d[:mon], d[:mday] = day.year, day.mon, day.mday
      end
      year, mon, mday = d[:year], d[:mon], d[:mday]
      unless year || mon || mday || d[:hour] || d[:min] || d[:sec]
        raise ArgumentError, "no time information in #{text.inspect}"
      end
      year = yield(year) if year && block_given?
      unless year
        year = now.year
        mon ||= now.mon if !mon
        mday ||= now.mday if !d[:mon]
      end
      __build(year, mon || 1, mday || 1, d[:hour] || 0, d[:min] || 0, (d[:sec] || 0) + (d[:sec_fraction] || 0), zone)
    end
    def rfc2822(s)
      unless s =~ /\A\s*(?:\w{3}\s*,\s*)?(\d{1,2})\s+(\w{3})\s+(\d{2,})\s+
                  (\d{2})\s*:\s*(\d{2})(?:\s*:\s*(\d\d))?\s+([+-]\d{4}|[A-Z]+)/xi
        raise ArgumentError, "not RFC 2822 compliant date: #{s.inspect}"
      end
      year = $3.to_i
      year += year < 50 ? 2000 : 1900 if $3.size < 4
      parse("%d %s %d %s:%s:%s %s" % [$1, $2, year, $4, $5, $6 || "00", $7])
    end
    alias rfc822 rfc2822
    def httpdate(s)
      case s
      when /\A\s*\w{3},\x20(\d{2})\x20(\w{3})\x20(\d{4})\x20(\d{2}):(\d{2}):(\d{2})\x20GMT\s*\z/
        d, m, y, rest = $1, $2, $3.to_i, [$4, $5, $6]
      when /\A\s*\w+,\x20(\d\d)-(\w{3})-(\d\d)\x20(\d\d):(\d\d):(\d\d)\x20GMT\s*\z/
        d, m, y, rest = $1, $2, $3.to_i + ($3.to_i < 50 ? 2000 : 1900), [$4, $5, $6]
      when /\A\s*\w{3}\x20(\w{3})\x20([\d\x20]\d)\x20(\d\d):(\d\d):(\d\d)\x20(\d{4})\s*\z/
        m, d, y, rest = $1, $2, $6.to_i, [$3, $4, $5]
      else raise ArgumentError, "not RFC 2616 compliant date: #{s.inspect}"
      end
      Time.utc(y, m, d.to_i, *rest.map(&:to_i))
    end
  end
  def rfc2822 = strftime("%a, %d %b %Y %T ") + (utc? ? "-0000" : strftime("%z"))
  alias rfc822 rfc2822
  def httpdate = getutc.strftime("%a, %d %b %Y %T GMT")
  def iso8601(n = 0)
    fraction = n > 0 ? "." + ("%09d" % nsec)[0, n].ljust(n, "0") : ""
    strftime("%Y-%m-%dT%H:%M:%S") + fraction + (utc? ? "Z" : strftime("%:z"))
  end
  def xmlschema(n = 0) = iso8601(n)
end
