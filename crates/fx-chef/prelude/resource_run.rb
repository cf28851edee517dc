# One action of a resource: its provider, its guards, its failure.
class Chef
  class Resource
    def provider(arg = nil)
      return @provider if arg.nil?
      arg = lookup_provider_constant(arg) if arg.is_a?(String) || arg.is_a?(Symbol)
      Mixin::ParamsValidate.run_check(self, :provider, arg, :kind_of, [Class])
      @provider = arg
    end
    def provider=(arg)
      provider(arg)
    end
    def lookup_provider_constant(name)
      Chef::Provider.const_get(FX.camel(name.to_s))
    rescue NameError
      Chef::ProviderResolver.by_name(name.to_s) or raise
    end

    def current_value_does_not_exist! = raise(Chef::Exceptions::CurrentValueDoesNotExist)
    def current_value
      p = provider_for_action(Array(action).first)
      p.load_current_resource
      p.current_resource
    end

    def provider_for_action(action)
      klass = @provider || self.class.fx_action_provider || Chef::ProviderResolver.resolve(node, self, action)
      p = klass.new(self, @run_context)
      p.action = action
      p
    end
    def self.fx_action_provider
      return @action_class if @action_class
      if @fx_provider_seen != @@fx_generation
        @fx_provider_seen = @@fx_generation
        @fx_provider = superclass.respond_to?(:fx_action_provider) ? superclass.fx_action_provider : nil
      end
      @fx_provider
    end

    def run_action(action, notification_type = nil, notifying_resource = nil)
      FX.action_open(self, action, notification_type, notifying_resource)
      opened = true
      ev = @run_context.events
      ev.resource_action_start(self, action, notification_type, notifying_resource) if ev.heard?
      resolve_notification_references
      if Chef::Log.info? && Chef::Config[:verbose_logging] != false
        Chef::Log.info("Processing #{self} action #{action} (#{defined_at})")
      end
      @updated_by_last_action = false
      left = retries
      outer = Chef::Log.secret
      secret = fx_secret?
      shown = FX.secret(secret)
      Chef::Log.secret = self if secret
      begin
        return if fx_skip?(action)
        u = umask
        if u
          FX.with_umask(u.is_a?(String) ? u.oct : u) { provider_for_action(action).run_action }
        else
          provider_for_action(action).run_action
        end
      rescue StandardError => e
        e = Chef::FxSecrets.hide(self, e) if fx_secret?
        if FX.action_unsure?
          # What it needs may come from what a plan withholds: it would act, how is unknown.
          updated_by_last_action(true)
          FX.action_updated
        elsif ignore_failure
          quiet = ignore_failure.to_s == "quiet"
          Chef::Log.error("#{custom_exception_message(e)}; ignore_failure is set, continuing") unless quiet
          fx_tell_failure(e, action, quiet)
          ev.resource_failed(self, action, e) if ev.heard?
        elsif left > 0
          ev.resource_failed_retriable(self, action, left, e) if ev.heard?
          left -= 1
          Chef::Log.info("Retrying execution of #{self}, #{left} attempt#{"s" if left > 1} left")
          sleep retry_delay
          retry
        else
          fx_tell_failure(e, action, false)
          ev.resource_failed(self, action, e) if ev.heard?
          raise customize_exception(e)
        end
      end
    ensure
      Chef::Log.secret = outer
      FX.secret(shown)
      FX.action_close if opened
      ev.resource_completed(self) if ev && ev.heard?
    end

    # Whether nothing of what it holds is shown: parts of a sensitive resource are as it is.
    def fx_secret? = sensitive || (@enclosing_provider ? @enclosing_provider.new_resource.fx_secret? : false)

    def fx_tell_failure(e, action, quiet)
      return FX.action_failed(e) if quiet || !FX.doc?
      FX.action_failed(e, "Error executing action `#{action}` on resource '#{self}'",
        Chef::FxFailures.resource(self, e))
    end
    def suppress_up_to_date_messages? = false

    # Plain resources carry no guards at all, so this is the short way out.
    def fx_skip?(action, at_work = true)
      if action == :nothing
        at_work ? FX.action_skipped(nil, "not_if { action == :nothing }", "action :nothing") : FX.guards_asked(nil)
        if @run_context.events.heard?
          @run_context.events.resource_skipped(self, action, ConditionalActionNotNothing.new(action))
        end
        return true
      end
      return false if @only_if.empty? && @not_if.empty?
      passed = []
      failed = (@only_if + @not_if).find do |guard|
        holds = guard.continue?
        passed << guard if holds
        !holds
      end
      return false unless failed
      Chef::Log.debug("Skipping #{self} due to #{failed.description}")
      if at_work
        told = ([failed.fx_told] + passed.map(&:fx_told)).join("; ")
        FX.action_skipped(failed.positivity.name, failed.to_text, told)
      else
        FX.guards_asked(failed.positivity.name)
      end
      @run_context.events.resource_skipped(self, action, failed) if @run_context.events.heard?
      true
    end
    # For providers that ask other resources: what they do themselves goes on.
    def should_skip?(action) = fx_skip?(action, false)

    def custom_exception_message(e) = "#{self} (#{defined_at}) had an error: #{e.class.name}: #{e.message}"
    def customize_exception(e)
      return e unless e.class.fx_plain_exception?
      ne = e.exception(custom_exception_message(e))
      ne.set_backtrace(e.backtrace) if e.backtrace
      ne
    rescue ArgumentError, NoMethodError
      e
    end
  end
end
class Exception
  # Whether a message can be put before the old one without knowing the class's own arguments.
  def self.fx_plain_exception? = true
end
