# Chef::Log: lines with time and level, to the log file or to the output.
class Chef
  module Log
    LEVELS = { trace: 0, debug: 1, info: 2, warn: 3, error: 4, fatal: 5 }.freeze
    class Child
      def initialize(metadata = nil) = @metadata = metadata
      attr_reader :metadata
      LEVELS.each_key do |level|
        define_method(level) { |msg = nil, **_, &block| Chef::Log.write(level, msg, &block) }
        define_method(:"#{level}?") { Chef::Log.at?(level) }
      end
      def with_child(*_) = self
      def level = Chef::Log.level
      def add(severity, msg = nil, *rest, **_, &b) = Chef::Log.add(severity, msg, *rest, &b)
      def level=(l)
        Chef::Log.level = l
      end
      def <<(msg)
        Chef::Log.write(:info, msg)
        self
      end
    end
    @level = 3
    @child = nil
    class << self
      LEVELS.each do |name, number|
        define_method(name) do |msg = nil, **_, &block|
          write(name, msg, &block) if number >= @level
          true
        end
        define_method(:"#{name}?") { number >= @level }
      end
      def at?(level) = LEVELS[level] >= @level
      # The sensitive resource whose action runs now, if any.
      attr_accessor :secret

      def level = LEVELS.key(@level)

      def level=(level)
        level = :warn if level == :auto || level.nil?
        n = LEVELS[level.to_sym]
        raise ArgumentError, "log level must be one of: :#{LEVELS.keys.join(", :")}" unless n
        @level = n
      end
      def level_with(level = nil) = level ? self.level = level : self.level

      def init(*_) = nil
      def logger = self
      def loggers = [self]
      def use_log_devices(*_) = nil
      def formatter = nil
      def with_child(metadata = nil) = @child ||= Child.new(metadata)
      def metadata = {}
      def close = nil
      def <<(msg)
        info(msg)
        self
      end
      def add(severity, msg = nil, progname = nil, **_, &block)
        names = %i{debug info warn error fatal}
        write(severity.is_a?(Integer) ? names[severity] || :info : severity, msg || progname, &block)
      end

      def write(level, msg)
        return true if LEVELS[level] < @level
        msg = yield if msg.nil? && block_given?
        msg = msg.is_a?(Exception) ? "#{msg.message} (#{msg.class})\n#{(msg.backtrace || []).join("\n")}" :
          msg.is_a?(String) ? msg : msg.inspect
        msg = FxSecrets.scrub(@secret, msg.to_s) if @secret
        FX.log(level.name, msg)
        true
      end

      def caller_location = FX.here

      def setup!(*_) = nil
      def deprecation(msg, *_) = warn(msg)
    end
  end
end
module Mixlib
  module Log
    def self.extended(base) = nil
  end
  module CLI
    def self.included(base) = base.extend(ClassMethods)
    module ClassMethods
      def option(*) = nil
      def banner(*) = nil
    end
  end
  module Authentication
    module Log
      def self.method_missing(*) = nil
    end
  end
end
