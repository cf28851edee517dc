# Converging: each action of each resource, and what notifications make of the outcome.
class Chef
  class Runner
    attr_reader :run_context
    def initialize(run_context)
      @run_context = run_context
      run_context.runner = self
    end
    def delayed_actions = @run_context.delayed_actions
    def events = @run_context.events
    def updated_resources = @run_context.updated_resources

    def run_action(resource, action, type = nil, notifier = nil)
      rc = @run_context
      quiet = !rc.any_notifications?
      unless quiet
        before = rc.before_notifications(resource)
        unless before.empty?
          FX.probing do
            Chef::Log.info("#{resource} running why-run #{action} action to support before action")
            resource.run_action(action, type, notifier)
          end
          if resource.updated_by_last_action?
            before.each do |n|
              Chef::Log.info("#{resource} sending #{n.action} action to #{n.resource} (before)")
              FX.subscribed if n.subscribed
              run_action(n.resource, n.action, :before, resource)
            end
            resource.updated_by_last_action(false)
          end
        end
      end
      resource.run_action(action, type, notifier)
      return unless resource.updated_by_last_action?
      rc.updated_resources[resource.declared_key] = true if rc.unified_mode
      return unless rc.any_notifications?
      rc.immediate_notifications(resource).each do |n|
        next if n.resource.is_a?(String) && rc.unified_mode
        Chef::Log.info("#{resource} sending #{n.action} action to #{n.resource} (immediate)")
        FX.subscribed if n.subscribed
        run_action(n.resource, n.action, :immediate, resource)
      end
      rc.delayed_notifications(resource).each do |n|
        n.resource.is_a?(String) ? rc.add_delayed_action(n) : n.resource.run_context.add_delayed_action(n)
      end
    end

    def run_all_actions(resource)
      Array(resource.action).each { |a| run_action(resource, a) }
      if @run_context.unified_mode && @run_context.any_notifications?
        @run_context.reverse_immediate_notifications(resource).each do |n|
          next unless updated_resources.include?(n.notifying_resource.declared_key)
          n.resolve_resource_reference(@run_context.resource_collection)
          Chef::Log.info("#{resource} sent #{n.action} action to #{n.resource} (immediate at declaration time)")
          run_action(n.resource, n.action, :immediate, n.notifying_resource)
        end
      end
    ensure
      resource.executed_by_runner = true
    end

    def converge
      rc = @run_context
      c = rc.resource_collection
      c.each(&:resolve_notification_references) if rc.any_notifications?
      unified = c.unified_mode
      c.execute_each_resource { |r| run_all_actions(r) } unless unified
      c.each { |r| r.resolve_notification_references(true) } if unified && rc.any_notifications?
    rescue Exception => e
      Chef::Log.info "Running queued delayed notifications before re-raising exception"
      run_delayed(e)
    else
      run_delayed(nil)
      true
    end

    def run_delayed(error)
      return if error.nil? && delayed_actions.empty?
      raise error if error && delayed_actions.empty?
      failures = Exceptions::MultipleFailures.new
      failures.client_run_failure(error) if error
      i = 0
      while i < delayed_actions.size
        result = run_one_delayed(delayed_actions[i])
        failures.notification_failure(result) if result.is_a?(Exception)
        i += 1
      end
      failures.raise!
    end

    def run_one_delayed(n)
      Chef::Log.info("#{n.notifying_resource} sending #{n.action} action to #{n.resource} (delayed)")
      n.resolve_resource_reference(@run_context.resource_collection)
      FX.because(n.notifying_resource.to_s)
      FX.subscribed if n.subscribed
      run_action(n.resource, n.action, :delayed)
      true
    rescue Exception => e
      e
    end
  end
end
