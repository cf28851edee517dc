# log: a line in the log.
class Chef
  class Resource
    class Log
      # What it logs says it all.
      def suppress_up_to_date_messages? = true
    end
  end
  class Provider
    class Log < Chef::Provider
      def load_current_resource = nil
      def action_write
        Chef::Log.send(new_resource.level,
          new_resource.fx_secret? ? "suppressed sensitive resource" : new_resource.message)
        new_resource.updated_by_last_action(true) if Chef::Config[:count_log_resource_updates]
      end
    end
  end
end
