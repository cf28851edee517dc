# Who listens to what happens in a run.
class Chef
  module EventDispatch
    class Base
      NAMES = %i{run_start run_started run_completed run_failed ohai_completed registration_start node_load_start
        node_load_completed run_list_expanded policyfile_loaded cookbook_resolution_start
        cookbook_resolution_complete cookbook_sync_start cookbook_sync_complete library_load_start library_load_complete
          library_file_loaded library_file_load_failed attribute_load_start attribute_load_complete
        attribute_file_loaded attribute_file_load_failed lwrp_load_start lwrp_load_complete recipe_load_start
          recipe_load_complete recipe_file_loaded recipe_file_load_failed recipe_not_found definition_load_start
        definition_load_complete converge_start converge_complete converge_failed resource_action_start resource_skipped
          resource_current_state_loaded resource_current_state_load_bypassed resource_bypassed
        resource_update_applied resource_update_progress resource_failed_retriable resource_failed resource_updated
          resource_up_to_date resource_completed handlers_start handler_executed handlers_completed
        provider_requirement_failed whyrun_assumption stream_opened stream_closed stream_output deprecation
          notifications_resolved attribute_changed start skipping_registration registration_completed
        cookbook_clean_start removed_cookbook_file cookbook_clean_complete synchronized_cookbook lwrp_file_loaded
          definition_file_loaded recipe_file_loaded}.freeze
      NAMES.each { |n| define_method(n) { |*_, **_k| nil } }
    end

    class Dispatcher < Base
      attr_reader :subscribers
      def initialize(*subscribers) = @subscribers = subscribers.flatten
      def register(s) = @subscribers << s
      def unregister(s) = @subscribers.delete(s)
      def heard? = !@subscribers.empty?
      NAMES.each do |n|
        define_method(n) do |*args, **kw|
          @subscribers.each { |s| s.send(n, *args) if s.respond_to?(n) }
        end
      end
      def enqueue(n, *args) = send(n, *args)
    end

    class DSL
      def initialize(name) = @handler = Class.new(Base).new
      def on(event, &block)
        raise Chef::Exceptions::InvalidEventType, "Invalid event type: #{event}" unless Base.method_defined?(event)
        @handler.define_singleton_method(event) do |*args|
          block.arity >= 0 ? block.call(*args.first(block.arity)) : block.call(*args)
        end
        fx_register
      end
      def fx_register
        return if @registered
        @registered = true
        rc = Chef.run_context
        rc ? rc.events.register(@handler) : (Chef::Config[:event_handlers] << @handler)
      end
    end
  end
end
