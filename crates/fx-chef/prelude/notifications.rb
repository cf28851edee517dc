# Notifications between resources, and how their targets are found.
class Chef
  class Resource
    def delayed_action(arg)
      check_actions(arg).map do |a|
        run_context.add_delayed_action(Notification.new(self, a, self, run_context.unified_mode))
      end
    end

    def notifies(action, spec, timing = :delayed)
      run_context.resource_collection.validate_lookup_spec!(spec)
      [spec].flatten.each do |target|
        case timing.to_s
        when "delayed" then notifies_delayed(action, target)
        when "immediate", "immediately" then notifies_immediately(action, target)
        when "before" then notifies_before(action, target)
        else
          raise ArgumentError, "invalid timing: #{timing} for notifies(#{action}, #{[spec].flatten.inspect}, " \
            "#{timing}) resource #{self} Valid timings are: :delayed, :immediate, :immediately, :before"
        end
      end
      true
    end
    def notifies_before(action, spec)
      run_context.notifies_before(Notification.new(spec, action, self, run_context.unified_mode))
    end
    def notifies_immediately(action, spec)
      run_context.notifies_immediately(Notification.new(spec, action, self, run_context.unified_mode))
    end
    def notifies_delayed(action, spec)
      run_context.notifies_delayed(Notification.new(spec, action, self, run_context.unified_mode))
    end

    def subscribes(action, resources, timing = :delayed)
      [resources].flatten.each do |r|
        run_context.resource_collection.validate_lookup_spec!(r)
        r = UnresolvedSubscribes.new(r, run_context) if r.is_a?(String)
        r.run_context = run_context if r.run_context.nil?
        Notification.subscribing { r.notifies(action, self, timing) }
      end
      true
    end

    def before_notifications = run_context.before_notifications(self)
    def immediate_notifications = run_context.immediate_notifications(self)
    def delayed_notifications = run_context.delayed_notifications(self)
    def resolve_notification_references(always_raise = false)
      rc = @run_context
      return unless rc.any_notifications?
      c = rc.resource_collection
      key = declared_key
      rc.before_notifications(key).each { |n| n.resolve_resource_reference(c, true) }
      rc.immediate_notifications(key).each { |n| n.resolve_resource_reference(c, always_raise) }
      rc.delayed_notifications(key).each { |n| n.resolve_resource_reference(c, always_raise) }
    end

    class UnresolvedSubscribes < self
      def to_s = name
      def declared_key = name
    end

    # One notification from a resource to another.
    class Notification
      attr_accessor :resource, :action, :notifying_resource, :unified_mode
      attr_reader :subscribed
      def initialize(resource, action, notifying_resource, unified_mode = false)
        @resource, @action, @notifying_resource, @unified_mode = resource, action && action.to_sym, notifying_resource,
          unified_mode
        @subscribed = true if Notification.subscribing?
      end
      # Notifications made inside the block were asked for by their target.
      def self.subscribing
        @subscribing = true
        yield
      ensure
        @subscribing = false
      end
      def self.subscribing? = @subscribing || false
      def duplicates?(other) = other.resource == @resource && other.action == @action
      def ==(other)
        other.is_a?(Notification) && other.resource == resource && other.action == action &&
          other.notifying_resource == notifying_resource
      end
      def resolve_resource_reference(collection, always_raise = false)
        fix_target(collection, always_raise) unless @resource.is_a?(Chef::Resource)
        @notifying_resource = collection.find(@notifying_resource) unless @notifying_resource.is_a?(Chef::Resource)
      end
      def fix_target(collection, always_raise)
        found = collection.find(@resource)
        if Array(found).size > 1
          raise Chef::Exceptions::InvalidResourceReference,
            "Notification #{self} from #{notifying_resource} was created with a reference to multiple resources, but " \
            "can only notify one resource. Notifying resource was defined on #{notifying_resource.source_line}"
        end
        @resource = found
      rescue Chef::Exceptions::ResourceNotFound
        if !unified_mode || always_raise
          raise Chef::Exceptions::ResourceNotFound,
            "resource #{notifying_resource} is configured to notify resource #{resource} with action #{action}, but " \
            "#{resource} cannot be found in the resource collection. #{notifying_resource} is defined in " \
            "#{notifying_resource.source_line}\n"
        end
      rescue Chef::Exceptions::InvalidResourceSpecification
        raise Chef::Exceptions::InvalidResourceSpecification,
          "Resource #{notifying_resource} is configured to notify resource #{resource} with action #{action}, but " \
          "#{resource.inspect} is not valid syntax to look up a resource in the resource collection. Notification is " \
          "defined near #{notifying_resource.source_line}\n"
      end
    end
  end
end
