# notify_group: nothing but its notifications.
class Chef
  class Provider
    class NotifyGroup < Chef::Provider
      def load_current_resource = nil
      def action_run
        new_resource.updated_by_last_action(true)
      end
    end
  end
end
