# service: whether it runs and whether it starts at boot. What systems do differently is in
# service_ways.rb; here is what they have in common, and which way is taken.
require "shellwords"
class Chef
  class Resource
    class Service
      property :supports, Hash, default: { restart: nil, reload: nil, status: nil },
        coerce: proc { |x| x.is_a?(Array) ? x.to_h { |i| [i, true] } : x }
      property :pattern, String, default: lazy { service_name }, desired_state: false
      property :options, [Array, String], coerce: proc { |x| x.respond_to?(:split) ? x.shellsplit : x }
    end
  end
  class Provider
    class Service < Chef::Provider
      class << self
        # The ways that this machine has, best first; of those the first that knows the service.
        def new(resource, run_context)
          return super unless equal?(Chef::Provider::Service)
          ways = fx_ways(run_context.node)
          (ways.find { |way| way.supports?(resource, resource.action) } || ways.first).new(resource, run_context)
        end

        def fx_ways(node)
          there = ->(path) { ::File.exist?(path) }
          ways = []
          ways << Systemd if ChefUtils.systemd?(node)
          case node["platform_family"]
          when "debian"
            ways << Insserv if there["/sbin/insserv"]
            ways << Debian if there["/usr/sbin/update-rc.d"]
            ways << Invokercd if there["/usr/sbin/invoke-rc.d"]
          when "rhel", "fedora", "suse", "amazon"
            ways << Insserv if there["/sbin/insserv"]
            ways << Redhat if there["/sbin/chkconfig"]
          end
          ways << Init
        end

        def supports?(resource, _action) = ::File.exist?("/etc/init.d/#{resource.service_name}")
      end

      def supports = @supports ||= new_resource.supports.dup
      def load_current_resource
        %i{status reload restart}.each { |what| supports[what] = false if supports[what].nil? }
      end
      def load_new_resource_state
        %i{enabled running masked}.each do |what|
          new_resource.send(what, current_resource.send(what)) if new_resource.send(what).nil?
        end
      end

      def user_services_requirements
        requirements.assert(:all_actions) do |a|
          a.assertion { new_resource.user.nil? }
          a.failure_message Chef::Exceptions::UnsupportedAction, "#{self} does not support user services"
        end
      end
      def shared_resource_requirements = user_services_requirements
      def define_resource_requirements
        requirements.assert(:reload) do |a|
          a.assertion { supports[:reload] || new_resource.reload_command }
          a.failure_message Chef::Exceptions::UnsupportedAction, "#{self} does not support :reload"
        end
      end
      def enableable?(_action) = true

      def about(property, from, to) = fx_about(:service, new_resource.service_name, property => [from, to])
      # What is changed, whether it has to be, and how it is afterwards.
      def fx_turn(verb, what, to)
        fx_change("#{verb} service #{new_resource}", about(what, !to, to)) {
          send(:"#{verb}_service") } unless current_resource.send(what) ? to : !to
        load_new_resource_state
        new_resource.send(what, to)
      end
      action(:enable) { fx_turn(:enable, :enabled, true) if enableable?(:enable) }
      action(:disable) { fx_turn(:disable, :enabled, false) if enableable?(:disable) }
      action(:mask) { fx_turn(:mask, :masked, true) }
      action(:unmask) { fx_turn(:unmask, :masked, false) }
      action(:start) { fx_turn(:start, :running, true) }
      action(:stop) { fx_turn(:stop, :running, false) }
      action(:restart) do
        fx_change("restart service #{new_resource}", about(:running, !!current_resource.running, "restarted")) do
          restart_service
        end
        load_new_resource_state
        new_resource.running(true)
      end
      action(:reload) do
        if current_resource.running
          fx_change("reload service #{new_resource}", about(:running, true, "reloaded")) { reload_service }
        end
        load_new_resource_state
      end

      %i{enable disable mask unmask start stop restart reload}.each do |verb|
        define_method(:"#{verb}_service") {
          raise Chef::Exceptions::UnsupportedAction, "#{self} does not support :#{verb}" }
      end

      def default_init_command = new_resource.init_command || @init_command
      def custom_command_for_action?(verb)
        name = :"#{verb}_command"
        new_resource.respond_to?(name) && !!new_resource.send(name)
      end
    end
  end
end
FX.load("chef/systemctl.rb")
FX.load("chef/service_ways.rb")
