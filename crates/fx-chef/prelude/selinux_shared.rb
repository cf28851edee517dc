# What the SELinux resources share: the state now, and doing nothing where it is disabled.
class Chef
  module SELinux
    module CommonHelpers
      def selinux_state
        state = fx_look!("getenforce").stdout.strip.downcase.to_sym
        raise "Got unknown SELinux state #{state}" unless %i{disabled enforcing permissive}.include?(state)
        state
      end
      def selinux_disabled? = selinux_state == :disabled
      def selinux_enforcing? = selinux_state == :enforcing
      def selinux_permissive? = selinux_state == :permissive
      def state_change_reboot_required?
        selinux_disabled? ? %i{enforcing permissive}.include?(action) : action == :disabled
      end
      def selinux_activate_required?
        node["platform_family"] == "debian" && !::File.read("/etc/default/grub").include?("security=selinux")
      end
      # Runs the block unless SELinux is off, which is said.
      def fx_unless_disabled(verb, what)
        return yield unless selinux_disabled?
        Chef::Log.warn("Unable to #{verb} SELinux #{what} as SELinux is disabled")
      end
    end
  end
end
