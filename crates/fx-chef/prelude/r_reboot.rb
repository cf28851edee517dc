# reboot: asked for at the end of the run, or now.
class Chef
  class Provider
    class Reboot < Chef::Provider
      def load_current_resource = nil
      def info
        {
          delay_mins: new_resource.delay_mins, reason: new_resource.reason, timestamp: Time.now,
          requested_by: new_resource.name
        }
      end
      def about(from, to) = fx_about(:reboot, new_resource.name, requested: [from, to])
      def action_request_reboot
        fx_change("request a system reboot to occur if the run succeeds", about(nil, "at the end of the run")) do
          run_context.request_reboot(info)
        end
      end
      def action_reboot_now
        fx_change("rebooting the system immediately", about(nil, "now")) do
          run_context.request_reboot(info)
          Chef::Platform::Rebooter.reboot_if_needed!(node)
        end
      end
      def action_cancel
        fx_change("cancel any existing end-of-run reboot request",
          about(run_context.reboot_requested? ? "requested" : nil, "cancelled")) do
          run_context.cancel_reboot
        end
      end
    end
  end
end
