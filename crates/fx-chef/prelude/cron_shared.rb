# What cron and cron_d share: the fields of a line and how they are checked.
class Chef
  module FxCron
    DAYS = %w{sunday monday tuesday wednesday thursday friday saturday}.freeze
    def self.spec?(v, lo, hi, names = nil)
      return true if v.is_a?(Integer) && v.between?(lo, hi)
      return false if v.is_a?(Float)
      v.split(",") unless v.is_a?(Integer)
      s = v.to_s
      return true if s == "*"
      return true if names && names.include?(s.downcase)
      s.split(",").all? do |part|
        body, step = part.split("/", 2)
        next false if step && !step.match?(/\A\d+\z/)
        body == "*" || body.split("-", 2).all? do |x|
          (x.match?(/\A\d+\z/) && x.to_i.between?(lo, hi)) || (names && names.include?(x.downcase))
        end
      end
    end
    def self.install(klass)
      months = %w{jan feb mar apr may jun jul aug sep oct nov dec}
      dows = %w{mon tue wed thu fri sat sun}
      klass.class_eval do
        property :minute, [Integer, String], default: "*", callbacks: {
          "should be a valid minute spec" => ->(s) { FxCron.spec?(s, 0, 59) }
        }
        property :hour, [Integer, String], default: "*", callbacks: {
          "should be a valid hour spec" => ->(s) { FxCron.spec?(s, 0, 23) }
        }
        property :day, [Integer, String], default: "*", callbacks: {
          "should be a valid day spec" => ->(s) { FxCron.spec?(s, 1, 31) }
        }
        property :month, [Integer, String], default: "*", callbacks: {
          "should be a valid month spec" => ->(s) { FxCron.spec?(s, 1, 12, months) }
        }
        property :weekday, [Integer, String, Symbol], default: "*",
          callbacks: { "should be a valid weekday spec" => ->(s) { FxCron.spec?(s, 0, 7, dows) } },
          coerce: proc { |d| (i = DAYS.index(d.to_s.downcase)) ? i.to_s : d }
        property :time_out, Hash, default: {},
          coerce: proc { |h| h.is_a?(Hash) ? h.transform_keys(&:to_s) : h.is_a?(Integer) || h.is_a?(String) ?
          { "duration" => h } : nil },
          callbacks: { "should be a valid time_out" => ->(h) { FxCron.limits!(h) } }
      end
    end
    LIMITS = %w{duration preserve-status foreground kill-after signal}.freeze
    def self.limits!(hash)
      bad = hash.keys.find { |k| !LIMITS.include?(k) }
      return true unless bad
      raise Chef::Exceptions::ValidationFailed,
        "Key of option time_out must be equal to one of: #{LIMITS.map(&:inspect).join(", ")}!  You passed \"" \
        "#{hash.keys.join(", ")}\"."
    end
    def self.duration(t)
      return nil if t.nil? || t.empty?
      s = +"timeout"
      s << " --preserve-status" if t["preserve-status"].to_s == "true"
      s << " --foreground" if t["foreground"].to_s == "true"
      s << " -k #{t["kill-after"]}" if t["kill-after"]
      s << " -s #{t["signal"]}" if t["signal"]
      s << " #{t["duration"]} "
      s
    end
    def self.variables(r)
      lines = []
      lines << "MAILTO=\"#{r.mailto}\"" if r.mailto
      lines << "PATH=\"#{r.path}\"" if r.path
      lines << "SHELL=\"#{r.shell}\"" if r.shell
      lines << "HOME=\"#{r.home}\"" if r.home
      r.environment.each { |k, v| lines << "#{k}=#{v}" }
      lines
    end
  end
end
