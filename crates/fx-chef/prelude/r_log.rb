# log: a line in the log.
class Chef
  class Provider
    class Log < Chef::Provider
      def load_current_resource = nil
      def action_write
        Chef::Log.send(new_resource.level, new_resource.message)
        new_resource.updated_by_last_action(true) if Chef::Config[:count_log_resource_updates]
      end
      def set_updated_status
        super
      end
    end
  end
end
