# group: a group and its members.
class Chef
  class Resource
    class Group
      property :members, [String, Array], default: [], coerce: proc { |arg| arg.is_a?(String) ? arg.split(/\s*,\s*/) : arg }
      property :excluded_members, [String, Array], default: [], coerce: proc { |arg| arg.is_a?(String) ? arg.split(/\s*,\s*/) : arg }
      alias users members
    end
  end
  class Provider
    class Group < Chef::Provider
      def load_current_resource
        r = new_resource
        out = shell_out("getent", "group", r.group_name)
        f = out.exitstatus == 0 ? out.stdout.strip.split(":", -1) : nil
        @now = f && { gid: f[2].to_i, members: f[3].to_s.split(",") }
      end
      def wanted_members
        r = new_resource
        if r.append
          (@now ? @now[:members] : []) | r.members - r.excluded_members
        else
          r.members
        end
      end
      def action_create
        return manage if @now
        r = new_resource
        converge_by("create group #{r.group_name}") do
          shell_out!("groupadd", *(r.gid ? ["-g", r.gid.to_s] : []), *(r.system ? ["-r"] : []), *(r.non_unique ? ["-o"] : []), r.group_name)
          set_members(wanted_members) unless wanted_members.empty?
        end
      end
      def set_members(list) = shell_out!("gpasswd", "-M", list.join(","), new_resource.group_name)
      def manage
        r = new_resource
        changes = []
        changes << "change gid #{@now[:gid]} to #{r.gid}" if r.gid && r.gid.to_i != @now[:gid]
        want = wanted_members
        want -= r.excluded_members if r.append
        given = r.property_is_set?(:members) || r.property_is_set?(:excluded_members)
        changes << (r.append ? "add missing member(s): #{(want - @now[:members]).join(", ")}" : "replace group members with new list of members: #{want.join(", ")}") if given && want.sort != @now[:members].sort
        return if changes.empty?
        converge_by(["manage group #{r.group_name}"] + changes) do
          shell_out!("groupmod", "-g", r.gid.to_s, r.group_name) if r.gid && r.gid.to_i != @now[:gid]
          set_members(want) if given && want.sort != @now[:members].sort
        end
      end
      def action_modify = @now ? manage : raise(Chef::Exceptions::Group, "Cannot modify #{new_resource} - group does not exist!")
      def action_manage = @now && manage
      def action_remove
        return unless @now
        converge_by("remove group #{new_resource.group_name}") { shell_out!("groupdel", new_resource.group_name) }
      end
    end
  end
end
