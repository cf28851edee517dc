# Users and logins of an SELinux policy: rows of a table that semanage keeps.
FX.load("chef/selinux_shared.rb")
class Chef
  class Provider
    class FxSelinuxTable < Chef::Provider
      include Chef::SELinux::CommonHelpers
      # Subclasses say: the kind, the properties in the table's order, their flags, and what a new one needs.
      def load_current_resource
        r = new_resource
        words = fx_look!("semanage", kind, "-l").stdout.lines.map(&:strip).find do |l|
          l.split(/\s+/)[0] == r.send(kind)
        end
        @now = words && row(words)
      end
      def wanted = columns.keys.to_h { |c| [c, new_resource.send(c)] }.reject { |_, v| v.nil? || v == [] }
      def flags = wanted.flat_map { |c, v| [columns[c], v.is_a?(Array) ? v.join(" ") : v] }
      def lines(rows)
        rows.map do |c, v|
          "  set #{c.to_s.ljust(rows.keys.map(&:size).max)} to #{v.inspect}#{" (was #{@now[c].inspect})" if @now}"
        end
      end
      def about(rows)
        fx_about("selinux_#{kind}", new_resource.send(kind), rows.to_h { |c, v| [c, [@now && @now[c], v]] })
      end
      def title = "#{kind} #{new_resource.send(kind)}"
      def action_manage
        action_add
        action_modify
      end
      def action_add
        if !@now && Array(new_resource.send(needs)).empty?
          raise "The #{needs} property must be populated to create a new SELinux #{kind}"
        end
        fx_unless_disabled("add", title) do
          next if @now
          fx_change(["create #{new_resource.send(kind)}"] + lines(wanted), about(wanted)) do
            fx_tool!("semanage", kind, "-a", *flags, new_resource.send(kind))
          end
        end
      end
      def action_modify
        fx_unless_disabled("modify", title) do
          changed = @now ? wanted.reject { |c, v| @now[c] == v } : {}
          next if changed.empty?
          fx_change(["update #{new_resource.send(kind)}"] + lines(changed), about(changed)) do
            fx_tool!("semanage", kind, "-m", *flags, new_resource.send(kind))
          end
        end
      end
      def action_delete
        fx_unless_disabled("delete", title) do
          if @now
            fx_change("deleting SELinux #{title}",
              fx_about("selinux_#{kind}", new_resource.send(kind), ensure: %w{present absent})) do
              fx_tool!("semanage", kind, "-d", new_resource.send(kind))
            end
          end
        end
      end
    end
  end
end
