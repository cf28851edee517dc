# selinux_boolean: a switch of the policy.
FX.load("chef/selinux_shared.rb")
class Chef
  class Resource
    class SelinuxBoolean
      property :value, [Integer, String, true, false], required: true, equal_to: %w{on off}, coerce: proc { |v|
        if ["on", "true", "1", true, 1].include?(v)
          "on"
        elsif ["off", "false", "0", false, 0].include?(v)
          "off"
        else
          raise ArgumentError, "selinux_bool: Invalid selinux boolean value #{v}"
        end
      }
    end
  end
  class Provider
    class SelinuxBoolean < Chef::Provider
      include Chef::SELinux::CommonHelpers
      def load_current_resource
        @now = fx_look!("getsebool", new_resource.boolean).stdout.split("-->").map(&:strip).last
      end
      def action_set
        r = new_resource
        fx_unless_disabled("set", "boolean #{r.name}") do
          next if @now == r.value
          fx_change(["update #{r.boolean}", "  set value to #{r.value.inspect} (was #{@now.inspect})"],
            fx_about(:selinux_boolean, r.boolean, value: [@now, r.value])) do
            fx_tool!("setsebool", r.persistent ? "-P" : nil, r.boolean, r.value)
          end
        end
      end
    end
  end
end
