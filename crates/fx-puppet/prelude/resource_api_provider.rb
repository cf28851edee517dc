# What providers of the resource API are given and built from: the context they log through, and
# the simple provider.
module Puppet
  module ResourceApi
    # What a provider logs through.
    class BaseContext
      attr_reader :type
      def initialize(definition) = @type = definition.is_a?(Hash) ? TypeDefinition.new(definition) : definition
      def device = raise("Received device() on an unprepared BaseContext. Use a PuppetContext instead.")
      def transport = raise("No transport available.")
      def failed? = @failed
      def reset_failed = @failed = false
      def feature_support?(feature) = type.feature?(feature)
      %i[debug info notice warning err].each do |level|
        define_method(level) do |*args|
          text = case args.length
                 when 1 then "#{@context || @type.name}: #{args.last}"
                 when 2 then "#{format_titles(args.first)}: #{args.last}"
                 else args.map(&:to_s).join(", ")
                 end
          send_log(level, text)
        end
      end
      %i[creating updating deleting].each do |method|
        define_method(method) do |titles, message: method.to_s.capitalize, &block|
          finish = ->(took) { notice("Finished in #{took} seconds") }
          __timed(titles, message, -> { debug("Start") }, finish, "Failed after", &block)
        end
      end
      def failing(titles, message: "Failing", &block)
        finish = ->(took) { warning("Finished failing in #{took} seconds") }
        __timed(titles, message, -> { debug("Start") }, finish, "Failed after", &block)
      end
      def processing(title, is, should, message = "Processing", &block)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        start = -> { debug("Starting processing of #{title} from #{is} to #{should}") }
        finish = ->(took) { notice("Finished processing #{title} in #{took} seconds: #{should}") }
        __timed(title, message, start, finish, "Failed processing #{title} after", &block)
      end
      def __timed(titles, message, start, finish, failed)
        started = Time.now
        setup_context(titles, message)
        start.call
        yield
        finish.call(format_seconds(Time.now - started))
      rescue StandardError => e
        log_exception(e, message: "#{failed} #{format_seconds(Time.now - started)} seconds")
        @failed = true
      ensure
        @context = nil
      end
      %i[created updated deleted].each do |method|
        define_method(method) { |titles, message: method.to_s.capitalize| notice("#{message}: #{titles}") }
      end
      def processed(title, is, should)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        notice("Processed #{title} from #{is} to #{should}")
      end
      def attribute_changed(title, attribute, is, should, message: nil)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        is, should = [is, should].map { |v| v ? (v.is_a?(Numeric) ? v : "'#{v}'") : "nil" }
        notice("#{title}: attribute '#{attribute}' changed from #{is} to #{should}#{message ? ": #{message}" : ""}")
      end
      def failed(titles, message: "Updating has failed")
        setup_context(titles)
        err(message)
      ensure
        @context = nil
      end
      def log_exception(exception, message: "Error encountered", trace: false)
        text = "#{message}: #{exception}"
        text += "\n#{exception.backtrace.join("\n")}" if trace
        err(text)
      end
      def send_log(_level, _message)
        raise "Received send_log() on an unprepared BaseContext. Use IOContext, or PuppetContext instead."
      end
      private
      def format_titles(titles)
        return @type.name if titles.empty? && !titles.is_a?(String)
        "#{@type.name}[#{[titles].flatten.compact.join(", ")}]"
      end
      def setup_context(titles, message = nil)
        @context = format_titles(titles)
        @context += ": #{message}" if message
      end
      def format_seconds(seconds) = Kernel.format(seconds < 1 ? "%.6f" : "%.2f", seconds)
    end

    class PuppetContext < BaseContext
      def device = raise("no device configured")
      def transport = device.transport
      protected
      def send_log(level, message) = Puppet.send(level, message)
    end

    class SimpleProvider
      def set(context, changes)
        namevars = context.type.namevars
        changes.each do |name, change|
          is = change.fetch(:is) do
            found = context.type.feature?("simple_get_filter") ? get(context, [name]) : get(context)
            (found || []).find { |r| SimpleProvider.build_name(namevars, r) == name }
          end
          context.type.check_schema(is) if is && !change.key?(:is)
          should = change[:should]
          raise "SimpleProvider cannot be used with a Type that is not ensurable" unless context.type.ensurable?
          is_there = is.nil? ? "absent" : is[:ensure].to_s
          be_there = should.nil? ? "absent" : should[:ensure].to_s
          given = namevars.length > 1 ? namevars.to_h { |n| [n, should[n]] } : name
          if is_there == "absent" && be_there == "present"
            context.creating(name) { create(context, given, should) }
          elsif is_there == "present" && be_there == "absent"
            context.deleting(name) { delete(context, given) }
          elsif is_there == "present"
            context.updating(name) { update(context, given, should) }
          end
        end
      end
      def create(_context, _name, _should) = raise("#{self.class} has not implemented `create`")
      def update(_context, _name, _should) = raise("#{self.class} has not implemented `update`")
      def delete(_context, _name) = raise("#{self.class} has not implemented `delete`")
      def self.build_name(namevars, resource)
        namevars.size > 1 ? namevars.to_h { |n| [n, resource[n]] } : resource[namevars[0]]
      end
    end

  end
end
