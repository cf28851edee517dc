# selinux_permissive: a domain that is warned of and not stopped.
class Chef
  class Provider
    class SelinuxPermissive < Chef::Provider
      def load_current_resource
        @on = fx_look!("semanage", "permissive", "-ln").stdout.split("\n").include?(new_resource.context)
      end
      def action_add
        c = new_resource.context
        unless @on
          fx_change("adding permissive context #{c}", fx_about(:selinux_permissive, c, permissive: [false, true])) do
            fx_tool!("semanage", "permissive", "-a", c)
          end
        end
      end
      def action_delete
        c = new_resource.context
        if @on
          fx_change("deleting permissive context #{c}", fx_about(:selinux_permissive, c, permissive: [true, false])) do
            fx_tool!("semanage", "permissive", "-d", c)
          end
        end
      end
    end
  end
end
