# Start, report and exception handlers, and the status they are given.
class Chef
  class RunStatus
    attr_accessor :run_context, :exception, :start_time, :end_time, :run_id, :node, :events
    def initialize(node, events = nil) = (@node, @events = node, events)
    def elapsed_time = @start_time && @end_time ? @end_time - @start_time : nil
    def success? = @exception.nil?
    def failed? = !success?
    def all_resources = @run_context && @run_context.resource_collection.all_resources
    def updated_resources = @run_context && @run_context.resource_collection.select(&:updated)
    def backtrace = @exception && (@exception.backtrace || [])
    def formatted_exception = @exception && "#{@exception.class.name}: #{@exception.message}"
    def start_clock = @start_time = Time.now
    def stop_clock = @end_time = Time.now
    # A time as reports have it.
    def self.fx_stamp(time) = time.getutc.strftime("%Y-%m-%dT%H:%M:%SZ")
    def to_hash
      {
        node: @node, all_resources: all_resources, updated_resources: updated_resources, exception: formatted_exception,
        backtrace: backtrace, start_time: start_time, end_time: end_time, elapsed_time: elapsed_time, success: success?,
        run_id: run_id
      }
    end
    alias to_h to_hash
  end

  class Handler
    autoload :JsonFile, "prelude:chef/report_handlers.rb"
    autoload :ErrorReport, "prelude:chef/report_handlers.rb"
    autoload :SlowReport, "prelude:chef/slow_report.rb"
    class << self
      def run_all(kind, status)
        Array(Chef::Config[kind]).each do |h|
          h.respond_to?(:run_report_unsafe) ? h.run_report_safely(status) : h.call(status)
        rescue Exception => e
          Chef::Log.error("Report handler #{h.class.name} raised #{e.inspect}")
        ensure
          FX.handlers(h.class.name) unless kind == :start_handlers
        end
      end
    end
    attr_reader :run_status
    %i{start_time end_time elapsed_time run_context run_id success? failed? all_resources updated_resources exception
      backtrace node}.each do |m|
      define_method(m) { @run_status.send(m) }
    end
    def report
      raise NotImplementedError, "You must define a report method in #{self.class.name}"
    end
    def run_report_safely(status)
      run_report_unsafe(status)
    rescue Exception => e
      Chef::Log.error("Report handler #{self.class.name} raised #{e.inspect}")
      Array(e.backtrace).each { |l| Chef::Log.error(l) }
    ensure
      @run_status = nil
    end
    def run_report_unsafe(status)
      @run_status = status
      report
    end
    def data = @run_status.to_hash
  end
end
