class Logger
  VERSION = "1.5.0"
  class Error < RuntimeError; end
  class ShiftingError < Error; end
  module Severity
    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    FATAL = 4
    UNKNOWN = 5
  end
  include Severity
  class Formatter
    Format = "%s, [%s #%d] %5s -- %s: %s\n"
    attr_accessor :datetime_format
    def call(sev, time, prog, msg)
      stamp = time.strftime(@datetime_format || "%Y-%m-%dT%H:%M:%S.%6N")
      format(Format, sev[0, 1], stamp, $$, sev, prog, msg2str(msg))
    end
    def msg2str(m)
      case m
      when ::String then m
      when ::Exception then "#{m.message} (#{m.class})\n#{m.backtrace&.join("\n")}"
      else m.inspect
      end
    end
  end
  class LogDevice
    attr_reader :dev, :filename
    def initialize(d, **k)
      if d.respond_to?(:write) && d.respond_to?(:close) then @dev = d
      else
        @filename = d
        fresh = !File.exist?(d)
        @dev = File.open(d, "a")
        @dev.write("# Logfile created on #{Time.now} by logger.rb/v1.5.0\n") if fresh
      end
    end
    def write(s)
      @dev.write(s)
      @dev.flush if @filename
    rescue IOError => e
      warn("log writing failed. #{e}")
    end
    def close
      @dev.close
    rescue IOError
      nil
    end
    def reopen(*) = self
  end
  attr_accessor :progname, :formatter
  attr_reader :level
  def initialize(dev, *rest, level: DEBUG, progname: nil, formatter: nil, datetime_format: nil, **k)
    self.level = level
    @progname = progname
    @default_formatter = Formatter.new
    @default_formatter.datetime_format = datetime_format
    @formatter = formatter
    @dev = dev && LogDevice.new(dev)
  end
  def level=(l)
    names = { "debug" => 0, "info" => 1, "warn" => 2, "error" => 3, "fatal" => 4, "unknown" => 5 }
    @level = Integer === l ? l : names[l.to_s.downcase] || raise(ArgumentError, "invalid log level: #{l}")
  end
  def datetime_format = @default_formatter.datetime_format
  def datetime_format=(f)
    @default_formatter.datetime_format = f
  end
  def add(sev, msg = nil, prog = nil)
    sev ||= UNKNOWN
    return true if @dev.nil? || sev < @level
    prog = @progname if prog.nil?
    if msg.nil?
      if block_given? then msg = yield
      else msg, prog = prog, @progname
      end
    end
    label = %w[DEBUG INFO WARN ERROR FATAL][sev] || "ANY"
    @dev.write((@formatter || @default_formatter).call(label, Time.now, prog, msg))
    true
  end
  alias log add
  def <<(m) = (@dev&.write(m); self)
  { debug: 0, info: 1, warn: 2, error: 3, fatal: 4, unknown: 5 }.each do |n, l|
    define_method(n) { |prog = nil, &b| add(l, nil, prog, &b) }
    define_method(:"#{n}?") { @level <= l } unless n == :unknown
    define_method(:"#{n}!") { self.level = l } unless n == :unknown
  end
  def close = @dev&.close
  def reopen(*) = self
end
