# reboot: asked for at the end of the run, or now.
class Chef
  class Provider
    class Reboot < Chef::Provider
      def load_current_resource = nil
      def info = { delay_mins: new_resource.delay_mins, reason: new_resource.reason, timestamp: Time.now, requested_by: new_resource.name }
      def action_request_reboot = converge_by("request a system reboot to occur if the run succeeds") { run_context.request_reboot(info) }
      def action_reboot_now
        converge_by("rebooting the system immediately") do
          run_context.request_reboot(info)
          Chef::Platform::Rebooter.reboot_if_needed!(node)
        end
      end
      def action_cancel = converge_by("cancel any existing end-of-run reboot request") { run_context.cancel_reboot }
    end
  end
end
