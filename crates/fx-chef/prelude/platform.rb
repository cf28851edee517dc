# Chef::Platform: what cookbooks ask of it.
class Chef
  class Platform
    module ServiceHelpers
      def self.service_resource_providers = [:systemd]
      def self.config_for_service(_name) = []
    end
    # Restarts the machine when a recipe asked for it.
    module Rebooter
      extend Chef::Mixin::ShellOut
      def self.reboot_if_needed!(node)
        reboot!(node) if node.run_context.reboot_requested?
      end
      def self.reboot!(node)
        info = node.run_context.root_run_context.reboot_info
        told = "Rebooting server at a recipe's request. Details: #{info.inspect}"
        begin
          Chef::Log.warn told
          # In the background: some wait there until it is time.
          minutes, reason, by = info[:delay_mins].to_s, info[:reason].to_s, info[:requested_by].to_s
          change = [:reboot, by, :scheduled, nil, "in #{minutes} minutes"]
          FX.step("reboot", by, "reboot", "requested by reboot[#{by}]", [change]) do
            shell_out!("sh", "-c", 'shutdown -r "+$1" "$2" &', "sh", minutes, reason)
          end
        rescue Mixlib::ShellOut::ShellCommandFailed => e
          raise Chef::Exceptions::RebootFailed, e.message
        end
        raise Chef::Exceptions::Reboot, told
      end
    end
    class << self
      def windows? = false
      def windows_server_2003? = false
      def supports_dsc?(*) = false
      def find_provider_for_node(node, resource) = Chef::ProviderResolver.resolve(node, resource, :nothing)
    end
  end
end
