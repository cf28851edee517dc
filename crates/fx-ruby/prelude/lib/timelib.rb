autoload :Date, "date"
autoload :DateTime, "date"
class Time
  def to_date = (require "date"; to_date)
  def to_datetime = (require "date"; to_datetime)
  ZONES_ = { "UTC" => 0, "GMT" => 0, "Z" => 0, "UT" => 0, "EST" => -18000, "EDT" => -14400, "CST" => -21600, "CDT" => -18000, "MST" => -25200, "MDT" => -21600, "PST" => -28800, "PDT" => -25200, "CET" => 3600, "CEST" => 7200, "JST" => 32400, "BST" => 3600 }
  class << self
    def zone_offset(z, y = now.year) = z =~ /\A([+-])(\d\d):?(\d\d)\z/ ? ($1 == "-" ? -1 : 1) * ($2.to_i * 3600 + $3.to_i * 60) : ZONES_[z.upcase]
    def __build(y, m, d, h, mi, s, z)
      return Time.utc(y, m, d, h, mi, s) if %w[Z UTC GMT UT -00:00 z].include?(z)
      o = z && zone_offset(z)
      o ? Time.new(y, m, d, h, mi, s, o) : Time.local(y, m, d, h, mi, s)
    end
    def iso8601(s)
      s =~ /\A\s*([-+]?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i or raise ArgumentError, "invalid xmlschema date: #{s.inspect}"
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
      if t =~ /(\d{4})-(\d{1,2})-(\d{1,2})/ || t =~ %r{(\d{4})/(\d{1,2})/(\d{1,2})} then y, m, d = $1.to_i, $2.to_i, $3.to_i
      elsif t =~ /\b(\d{1,2})(?:st|nd|rd|th)?[\s-]+(#{mon.join("|")})[a-z]*[\s,-]*(\d{2,4})?/i then d, m, y = $1.to_i, mon.index($2.downcase) + 1, $3&.to_i
      elsif t =~ /\b(#{mon.join("|")})[a-z]*\s+(\d{1,2})(?:st|nd|rd|th)?(?:[\s,]+(\d{4}))?/i then m, d, y = mon.index($1.downcase) + 1, $2.to_i, $3&.to_i
      elsif t =~ /\b(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?)?/ then y, m, d = $1.to_i, $2.to_i, $3.to_i; h, mi, sec = $4.to_i, $5.to_i, $6.to_i if $4
      elsif t =~ /\b(\d{4})-(\d{2})\b/ then y, m, d = $1.to_i, $2.to_i, 1
      elsif !got then raise ArgumentError, "no time information in #{s.inspect}"
      end
      y += y < 69 ? 2000 : 1900 if y && y < 100
      raise ArgumentError, "argument out of range" if m && !(1..12).cover?(m)
      __build(y || n.year, m || n.month, d || n.day, h, mi, sec, z)
    end
    def strptime(s, f, now = nil)
      names = []
      mon = MONTHS
      re = Regexp.escape(f).gsub(/%([-0^]?)([a-zA-Z%])/) do
        names << $2
        { "Y" => "([-+]?\\d+)", "m" => "(\\d{1,2})", "d" => "\\s*(\\d{1,2})", "e" => "\\s*(\\d{1,2})", "H" => "\\s*(\\d{1,2})", "I" => "(\\d{1,2})", "M" => "(\\d{1,2})", "S" => "(\\d{1,2})", "y" => "(\\d{2})", "b" => "([A-Za-z]{3,9})", "B" => "([A-Za-z]{3,9})", "h" => "([A-Za-z]{3})", "a" => "([A-Za-z]{3,9})", "A" => "([A-Za-z]{3,9})", "z" => "(Z|UTC|GMT|[+-]\\d\\d:?\\d\\d)", "Z" => "([A-Za-z]+)", "p" => "([AaPp][Mm])", "j" => "(\\d{1,3})", "s" => "(-?\\d+)", "L" => "(\\d+)", "N" => "(\\d+)", "T" => "(\\d\\d:\\d\\d:\\d\\d)", "F" => "(\\d+-\\d\\d-\\d\\d)", "D" => "(\\d\\d/\\d\\d/\\d\\d)", "R" => "(\\d\\d:\\d\\d)" }[$2] || "(.)"
      end
      m = Regexp.new("\\A\\s*" + re.gsub("\\ ", "\\s*")).match(s) or raise ArgumentError, "invalid date or strptime format - `#{s}' `#{f}'"
      v = { y: (now || Time.now).year, m: 1, d: 1, h: 0, mi: 0, s: 0 }
      names.each_with_index do |n, i|
        x = m[i + 1]
        case n
        when "Y" then v[:y] = x.to_i
        when "y" then v[:y] = x.to_i + (x.to_i < 69 ? 2000 : 1900)
        when "m" then v[:m] = x.to_i
        when "d", "e" then v[:d] = x.to_i
        when "H", "I" then v[:h] = x.to_i
        when "M" then v[:mi] = x.to_i
        when "S" then v[:s] = x.to_i
        when "b", "B", "h" then v[:m] = mon.index(x[0, 3].capitalize) + 1
        when "p" then v[:h] = v[:h] % 12 + (x.downcase == "pm" ? 12 : 0)
        when "z", "Z" then v[:z] = x
        when "s" then return Time.at(x.to_i)
        when "L", "N" then v[:s] += "0.#{x}".to_r
        when "T" then v[:h], v[:mi], v[:s] = x.split(":").map(&:to_i)
        when "R" then v[:h], v[:mi] = x.split(":").map(&:to_i)
        when "F" then v[:y], v[:m], v[:d] = x.split("-").map(&:to_i)
        when "j" then v[:m], v[:d] = Time.__civil(Time.__days(v[:y], 1, 1) + x.to_i - 1)[1, 2]
        end
      end
      __build(v[:y], v[:m], v[:d], v[:h], v[:mi], v[:s], v[:z])
    end
    def rfc2822(s) = parse(s)
    alias rfc822 rfc2822
    def httpdate(s) = s =~ /GMT/ ? parse(s) : raise(ArgumentError, "not RFC 2616 compliant date: #{s.inspect}")
  end
  def rfc2822 = strftime("%a, %d %b %Y %T ") + (utc? ? "-0000" : strftime("%z"))
  alias rfc822 rfc2822
  def httpdate = getutc.strftime("%a, %d %b %Y %T GMT")
  def iso8601(n = 0) = strftime("%Y-%m-%dT%H:%M:%S") + (n > 0 ? "." + ("%09d" % nsec)[0, n].ljust(n, "0") : "") + (utc? ? "Z" : strftime("%:z"))
  def xmlschema(n = 0) = iso8601(n)
end
