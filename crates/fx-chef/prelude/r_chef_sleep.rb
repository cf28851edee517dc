# chef_sleep: waits.
class Chef
  class Resource
    class ChefSleep
      property :seconds, [String, Integer], coerce: proc { |s| Integer(s) }, name_property: true
    end
  end
  class Provider
    class ChefSleep < Chef::Provider
      def load_current_resource = nil
      def action_sleep
        fx_change("sleep #{new_resource.seconds} seconds",
          fx_about(:chef_sleep, new_resource.name, slept: [0, new_resource.seconds])) do
          sleep(new_resource.seconds)
        end
      end
    end
  end
end
