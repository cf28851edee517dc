# selinux_port: the label of a port.
FX.load("chef/selinux_shared.rb")
class Chef
  class Provider
    class SelinuxPort < Chef::Provider
      include Chef::SELinux::CommonHelpers
      def load_current_resource = nil
      def labels
        r = new_resource
        rows = fx_look("seinfo", "--portcon=#{r.port}").stdout.lines.map(&:chomp).select do |l|
          l.include?("portcon #{r.protocol}")
        end
        # Labels of single ports that are not those of a whole reserved range.
        rows.map { |l| l.split(":", -1) }.filter_map do |f|
          f[-2].to_s.strip if !f[-2].to_s.end_with?("reserved_port_t") && !f[-4].to_s.include?("-")
        end
      end
      def place = "#{new_resource.port}/#{new_resource.protocol}"
      def run(text, flags, from, to)
        fx_change(text, fx_about(:selinux_port, place, secontext: [from, to])) do
          fx_tool!("semanage", "port", *flags, "-p", new_resource.protocol, new_resource.port)
        end
      end
      def action_manage
        action_add
        action_modify
      end
      def action_addormodify
        Chef::Log.warn("The :addormodify action for selinux_port is deprecated and will be removed in a future " \
          "release. Use the :manage action instead.")
        action_manage
      end
      def action_add
        r = new_resource
        fx_unless_disabled("add", "port #{r.name}") do
          if labels.empty?
            run("Adding context #{r.secontext} to port #{place}", ["-a", "-t", r.secontext], nil, r.secontext)
          end
        end
      end
      def action_modify
        r = new_resource
        fx_unless_disabled("modify", "port #{r.name}") do
          now = labels
          if !now.empty? && !now.include?(r.secontext)
            run("Modifying context #{r.secontext} to port #{place}", ["-m", "-t", r.secontext], now, r.secontext)
          end
        end
      end
      def action_delete
        fx_unless_disabled("delete", "port #{new_resource.name}") do
          labels.then { |now| run("Deleting context from port #{place}", ["-d"], now, nil) unless now.empty? }
        end
      end
    end
  end
end
