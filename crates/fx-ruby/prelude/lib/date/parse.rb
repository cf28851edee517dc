# How a date is read from a text.
class Date
  TIME_OF_DAY_ = /
    (\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap]\.?m\.?\b)?
    \s*(z\b|utc\b|gmt\b|[a-z]{3,4}\b|[-+]\d{1,2}:?\d{0,2})?
  /ix

  class << self
    def parse(text = "-4712-01-01", comp = true, _start = ITALY, limit: 128)
      unless text.respond_to?(:to_str)
        raise TypeError, "no implicit conversion of #{text.nil? ? "nil" : text.class} into String"
      end
      text = text.to_str
      raise ArgumentError, "string length (#{text.size}) exceeds the limit #{limit}" if limit && text.size > limit
      parts = _parse(text, comp)
      from_parts_(parts)
    end

    def iso8601(text = "-4712-01-01", _start = ITALY, limit: 128)
      raise Date::Error, "invalid date" if text.nil?
      parse(text, limit: limit)
    end
    alias xmlschema iso8601
    alias rfc3339 iso8601
    alias jisx0301 iso8601
    alias rfc2822 iso8601
    alias rfc822 iso8601
    alias httpdate iso8601

    def from_parts_(parts)
      return ordinal(parts[:year] || today.year, parts[:yday]) if parts[:yday]
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
      if rest.sub!(TIME_OF_DAY_, " ")
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
      parts[:wday] = ABBR_DAYNAMES.index($1.capitalize) if rest.sub!(/\b(#{days})[^-\/\d\s]*/i, " ")
      number = ->(name) { ABBR_MONTHNAMES.index(name.capitalize).to_s }
      case rest
      when /('?\d+)[^-\d\s]*\s*\b(#{months})[^-\d\s']*(?:\s*,?\s*('?-?\d+(?:(?:st|nd|rd|th)\b)?))?/i,
           /('?\d+)(?:st|nd|rd|th)?[\s\/.]*(#{months})[^-\d\s']*(?:[\s\/.,]*('?-?\d+(?:(?:st|nd|rd|th)\b)?))?/i
        three_(parts, $3, number[$2], $1, comp)
      when /\b(#{months})[^-\d\s']*\s*('?\d+)[^-\d\s']*(?:\s*,?\s*('?-?\d+))?/i
        three_(parts, $3, number[$1], $2, comp)
      when /('?[-+]?\d+)-(\d+)-('?-?\d+)/
        three_(parts, $1, $2, $3, comp)
      when /\b(\d{2}|\d{4})?-?w(\d{2})(?:-?(\d))?\b/i
        parts[:cwyear] = $1 ? full_year_($1, comp) : today.cwyear
        parts[:cweek] = $2.to_i
        parts[:cwday] = $3.to_i if $3
      when /\b(\d{2}|\d{4})-(\d{3})\b/
        parts[:year], parts[:yday] = full_year_($1, comp), $2.to_i
      when /--(\d{2})-?(\d{2})\b/
        parts[:mon], parts[:mday] = $1.to_i, $2.to_i
      when /('?-?\d+)-(#{months})[^-\/.]*-('?-?\d+)/i
        three_(parts, $3, number[$2], $1, comp)
      when /\b(#{months})[^-\/.]*-('?\d+)(?:-('?-?\d+))?/i
        three_(parts, $3, number[$1], $2, comp)
      when %r{('?-?\d+)/\s*('?\d+)(?:\D\s*('?-?\d+))?}
        three_(parts, $1, $2, $3, comp)
      when /\b([mtshr])(\d+)\.(\d+)\.(\d+)/i
        era = { "m" => 1867, "t" => 1911, "s" => 1925, "h" => 1988, "r" => 2018 }[$1.downcase]
        parts[:year], parts[:mon], parts[:mday] = era + $2.to_i, $3.to_i, $4.to_i
      when /('?-?\d+)\.\s*('?\d+)\.\s*('?-?\d+)/
        three_(parts, $1, $2, $3, comp)
      when /'(\d+)\b/
        parts[:year] = full_year_($1, comp)
      when /\b(#{months})\S*/i
        parts[:mon] = number[$1].to_i
      when /('?\d+)(?:st|nd|rd|th)\b/i
        parts[:mday] = $1.to_i
      when /([-+]?)(\d{2,14})(?:\s*t?\s*(\d{2,6})?(?:[,.](\d*))?)?(z\b|[-+]\d{1,4}\b)?/i
        digits_(parts, $1, $2, $3, comp)
      end
      parts
    end

    # Year, month and day as texts in a usual order, put right where their form shows it better.
    def three_(parts, year, month, day, comp)
      year, month, day = nil, year, month if year && month && day.nil?
      if year.nil? && day && (day.delete("^0-9").size > 2 || day.start_with?("'"))
        year, day = day, nil
      end
      year, day = day, year if year&.match?(/\d[a-z]/i)
      year, month, day = month, day, year if month && (month.start_with?("'") || month.size > 2)
      year, day = day, year if day && (day.start_with?("'") || day[/\d+/].size > 2)
      if year
        digits = year[/\d+/]
        value = (year.match?(/-\d/) ? -1 : 1) * digits.to_i
        parts[:year] = digits.size > 2 || year.match?(/[-+]/) ? value : full_year_(digits, comp)
      end
      parts[:mon] = month[/\d+/].to_i if month
      parts[:mday] = day[/\d+/].to_i if day
    end

    # A row of digits means what its length says.
    def digits_(parts, sign, text, time, comp)
      take = ->(at, size) { text[at, size]&.then { |t| t.to_i unless t.empty? } }
      year = ->(size) { size == 2 ? full_year_(text[0, 2], comp) : (sign == "-" ? -1 : 1) * text[0, 4].to_i }
      case text.size
      when 2 then parts[:mday] = text.to_i
      when 3 then parts[:yday] = text.to_i
      when 4 then parts[:mon], parts[:mday] = take[0, 2], take[2, 2]
      when 5 then parts[:year], parts[:yday] = year[2], take[2, 3]
      when 6 then parts[:year], parts[:mon], parts[:mday] = year[2], take[2, 2], take[4, 2]
      when 7 then parts[:year], parts[:yday] = year[4], take[4, 3]
      when 8, 10, 12, 14
        parts[:year], parts[:mon], parts[:mday] = year[4], take[4, 2], take[6, 2]
        parts[:hour] = take[8, 2] if text.size > 8
        parts[:min] = take[10, 2] if text.size > 10
        parts[:sec] = take[12, 2] if text.size > 12
      end
      return unless time
      parts[:hour] = time[0, 2].to_i
      parts[:min] = time[2, 2].to_i if time.size > 2
      parts[:sec] = time[4, 2].to_i if time.size > 4
    end

    %w[iso8601 rfc3339 xmlschema rfc2822 rfc822 httpdate jisx0301].each do |name|
      define_method("_#{name}") do |text, limit: 128|
        next {} if text.nil?
        raise TypeError, "no implicit conversion of #{text.class} into String" unless text.respond_to?(:to_str)
        text.to_str.match?(/\d/) ? _parse(text.to_str, limit: limit) : {}
      end
    end

    def full_year_(text, comp)
      year = text.delete("'").to_i
      return year unless comp && text.delete("'").size <= 2 && year >= 0
      year + (year < 69 ? 2000 : 1900)
    end

    def _strptime(text, format = "%F") = Time.__parts(text, format)

    def strptime(text = "-4712-01-01", format = "%F", _start = ITALY)
      parts = _strptime(text, format)
      raise Error, "invalid date" unless parts
      __of_parts(parts)
    end

    # The day that parts give: by the largest set of them; what is missing above comes from today.
    def __of_parts(parts)
      if parts[:seconds]
        time = Time.at(parts[:seconds]).utc + (parts[:offset] || 0)
        return civil(time.year, time.month, time.day)
      end
      now = today
      sets = [
        %i[year yday], %i[year mon mday], %i[cwyear cweek wday cwday], %i[wday], %i[year wnum0 wday cwday],
        %i[year wnum1 wday cwday]
      ]
      best = sets.each_with_index.max_by { |keys, i| [keys.count { |k| parts[k] }, -i] }[0]
      raise Error, "invalid date" if best.none? { |k| parts[k] }
      wday = parts[:wday] || (parts[:cwday] && parts[:cwday] % 7)
      case best
      when sets[0] then ordinal(parts[:year] || now.year, parts[:yday] || 1)
      when sets[2]
        week = parts[:cweek] || (parts[:cwyear] ? 1 : now.cweek)
        day = parts[:cwday] || (wday ? (wday.zero? ? 7 : wday) : 1)
        commercial(parts[:cwyear] || now.cwyear, week, day)
      when sets[3] then now - now.wday + wday
      when sets[4], sets[5]
        monday = best == sets[5] ? 1 : 0
        first = civil(parts[:year] || now.year, 1, 1)
        into = (first.wday - monday) % 7
        weeks = parts[:wnum0] || parts[:wnum1] || 0
        first + (weeks * 7 - into + ((wday || monday) - monday) % 7) - (into == 0 ? 7 : 0)
      else
        year, mon, mday = parts.values_at(:year, :mon, :mday)
        mon ||= year ? 1 : now.month
        civil(year || now.year, mon, mday || (year || parts[:mon] ? 1 : now.day))
      end
    end
  end
end
