# selinux_permissive: a domain that is warned of and not stopped.
class Chef
  class Provider
    class SelinuxPermissive < Chef::Provider
      def load_current_resource
        @on = shell_out!("semanage permissive -ln").stdout.split("\n").include?(new_resource.context)
      end
      def action_add
        c = new_resource.context
        converge_by("adding permissive context #{c}") { fx_tool!("semanage", "permissive", "-a", c) } unless @on
      end
      def action_delete
        c = new_resource.context
        converge_by("deleting permissive context #{c}") { fx_tool!("semanage", "permissive", "-d", c) } if @on
      end
    end
  end
end
