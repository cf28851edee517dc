# A catalog that Ruby applies by itself, as specs do: the transaction, what it says of each resource, its report.
module Puppet
  Puppet::Bridge.part("parser")
  Puppet::Bridge.part("type")
  class Transaction
    attr_reader :catalog, :report

    def initialize(catalog, report = nil, _prioritizer = nil)
      @catalog, @report, @done = catalog, report || Report.new, {}
      @changed, @refreshed = [], []
    end

    def persistence = @persistence ||= Persistence.new
    def prefetch_if_necessary(_resource) = nil
    def relationship_graph = catalog.relationship_graph
    def resource_harness = @resource_harness ||= ResourceHarness.new(self)
    def resource_status(resource) = report.resource_statuses[resource.to_s]
    def failed?(resource) = resource_status(resource)&.failed?
    def any_failed? = report.resource_statuses.values.any?(&:failed?)
    def changed? = @changed.dup
    def stop_processing? = false
    def in_progress? = false
    def evaluate? = true

    # Each resource after those that it needs; who is notified refreshes at its turn.
    def evaluate
      list = catalog.resources.grep(Puppet::Type)
      Puppet::Type.__prefetch(list)
      @edges = relationship_graph.edges
      list.each { |resource| visit(resource) }
      persistence.save
      report
    end

    private

    def visit(resource)
      return if @done[resource]
      @done[resource] = true
      before = @edges.select { |edge| edge.target.equal?(resource) }
      before.each { |edge| visit(edge.source) }
      bad = before.map { |edge| resource_status(edge.source) }.compact.any? { |one| one.failed? || one.__needs_failed }
      status = bad ? skipped(resource) : resource_harness.evaluate(resource)
      report.add_resource_status(status)
      @changed << resource if status.changed
      refresh(resource, before, status) unless bad || status.failed?
    end

    def skipped(resource)
      Puppet.warning("#{resource.path}: Skipping because of failed dependencies") if resource.respond_to?(:path)
      Resource::Status.new(resource).tap do |status|
        status.skipped = status.__needs_failed = true
      end
    end

    def refresh(resource, before, status)
      told = before.select { |edge| edge.callback || edge.event.to_s == "ALL_EVENTS" }
      return if told.none? { |edge| @changed.any? { |one| one.equal?(edge.source) } }
      return if resource.noop? || !resource.respond_to?(:refresh)
      resource.refresh
      status.restarted = true
    rescue StandardError => e
      status.failed_to_restart = status.failed = true
      Puppet.err("#{resource.ref}: Failed to call refresh: #{e.message}")
    end
  end

  class Transaction
    # Values of the last run.
    class Persistence
      def initialize = @values = {}
      def enabled?(_catalog = nil) = true
      def get_system_value(resource, name) = @values.dig(resource, name)
      def set_system_value(resource, name, value) = (@values[resource] ||= {})[name] = value
      def copy_skipped(_resource) = nil
      def load = nil
      def save = nil
      def data = @values
    end

    # One resource: looks, changes what differs, and says so.
    class ResourceHarness
      attr_reader :transaction

      def initialize(transaction) = @transaction = transaction

      def evaluate(resource)
        status = Resource::Status.new(resource)
        began = Time.now
        perform(resource, status)
        status.evaluation_time = Time.now - began
        status
      end

      def scheduled?(_resource) = true

      private

      def perform(resource, status)
        rows = resource.__observe
        rows.each { |row| change(resource, resource.property(row.first), status) }
        made = status.events.any? { |event| event.status == "success" }
        resource.flush if made && resource.respond_to?(:flush)
      rescue StandardError => e
        status.failed_because(e)
      end

      def change(resource, property, status)
        status.out_of_sync = true
        status.out_of_sync_count += 1
        is = resource.__current(property)
        event = Event.new(property: property.name.to_s, previous_value: is, desired_value: property.should,
          name: resource.__event_name_of(property), resource: resource.ref)
        status.add_event(event)
        noop = resource.noop? || property.respond_to?(:noop) && property.noop
        return left(event, property, is) if noop
        property.sync
        status.changed = true
        status.change_count += 1
        told(event, "success", property.change_to_s(is, property.should))
      rescue StandardError => e
        told(event, "failure", "change from #{shown(property, :is_to_s, is)} to " \
          "#{shown(property, :should_to_s, property.should)} failed: #{e.message}")
        status.failed = true
        Puppet.err("#{resource.ref}/#{property.name}: #{event.message}")
      end

      def left(event, property, is)
        should = shown(property, :should_to_s, property.should)
        told(event, "noop", "current_value #{shown(property, :is_to_s, is)}, should be #{should} (noop)")
      end

      def shown(property, how, value) = property.public_send(how, value)

      def told(event, status, message)
        event.status, event.message = status, message
      end
    end

    Event = Struct.new(:property, :previous_value, :desired_value, :name, :resource, :status, :message,
      :historical_value, :audited, :file, :line, :tags, :corrective_change, keyword_init: true) do
      def send_log = nil
      def to_s = message.to_s
    end
  end

  class Resource
    # What became of one resource.
    class Status
      FLAGS = %i[skipped failed failed_to_restart restarted changed out_of_sync scheduled corrective_change].freeze
      attr_accessor(*FLAGS, :evaluation_time, :change_count, :out_of_sync_count, :__needs_failed)
      attr_reader :events, :resource, :resource_type, :title, :tags, :file, :line, :time

      FLAGS.each { |name| define_method("#{name}?") { !!public_send(name) } }

      def initialize(resource)
        @resource, @resource_type, @title = resource.ref, resource.type.to_s.capitalize, resource.title
        @tags = resource.respond_to?(:tags) ? resource.tags : []
        @file, @line, @time, @events = resource.file, resource.line, Time.now, []
        @change_count = @out_of_sync_count = 0
        @changed = @out_of_sync = @skipped = @failed = @corrective_change = false
      end

      def add_event(event)
        @events << event
        self
      end
      alias << add_event

      def failed_because(error)
        @failed = true
        add_event(Transaction::Event.new(property: nil, name: :resource_error, status: "failure",
          message: error.message, resource: resource))
        Puppet.err("#{resource}: Could not evaluate: #{error.message}")
      end
    end
  end

  class Transaction
    # All of them together.
    class Report
      attr_reader :resource_statuses, :logs, :metrics, :host, :time, :kind
      attr_accessor :configuration_version, :environment, :transaction_uuid, :catalog_uuid, :noop

      def initialize(_configuration_version = nil, environment = nil, *)
        @resource_statuses, @logs, @metrics, @time = {}, [], {}, Time.now
        @environment, @kind = environment, "apply"
      end

      def add_resource_status(status) = @resource_statuses[status.resource] = status
      def <<(message) = tap { @logs << message }
      def finalize_report = @final = true

      def status
        all = @resource_statuses.values
        return "failed" if all.any? { |one| one.failed? || one.failed_to_restart? }
        all.any?(&:changed) ? "changed" : "unchanged"
      end

      def exit_status
        all = @resource_statuses.values
        code = all.any?(&:changed) ? 2 : 0
        all.any? { |one| one.failed? || one.failed_to_restart? } ? code | 4 : code
      end

      def noop_pending = @resource_statuses.values.any? { |one| one.events.any? { |event| event.status == "noop" } }
      def name = host
      def raw_summary = { "resources" => { "total" => @resource_statuses.size } }
    end
  end

  class Type
    # A property's value as it was found, and what a change of it is called.
    def __current(property) = @__is[property.class.name]
    def __event_name_of(property) = (property.event_name || __event_name(property)).to_sym
  end

  module Graph
    class Prioritizer; end
    class SequentialPrioritizer < Prioritizer; end
    class TitleHashPrioritizer < Prioritizer; end
    class RandomPrioritizer < Prioritizer; end
  end
end
