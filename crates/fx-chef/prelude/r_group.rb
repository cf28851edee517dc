# group: a group and its members.
class Chef
  class Resource
    class Group
      property :members, [String, Array], default: [], coerce: proc { |arg|
        arg.is_a?(String) ? arg.split(/\s*,\s*/) : arg
      }
      property :excluded_members, [String, Array], default: [], coerce: proc { |arg|
        arg.is_a?(String) ? arg.split(/\s*,\s*/) : arg
      }
    end
  end
  class Provider
    class Group < Chef::Provider
      def load_current_resource
        @now = FX.account_group(new_resource.group_name)
      end
      def define_resource_requirements
        r = new_resource
        requirements.assert(:modify) do |a|
          a.assertion { @now }
          a.failure_message Chef::Exceptions::Group, "Cannot modify #{r} - group does not exist!"
          a.whyrun "Group #{r} does not exist. Unless it would have been created earlier in this run, this attempt " \
            "to modify it would fail."
        end
        both = r.members & r.excluded_members
        requirements.assert(:all_actions) do |a|
          a.assertion { both.empty? }
          a.failure_message Chef::Exceptions::ConflictingMembersInGroup,
            "Attempting to both add and remove users from a group: '#{both.join(", ")}'"
        end
      end
      def now_members = @now ? @now[:members] : []
      def missing = new_resource.members - now_members
      def leaving = new_resource.excluded_members & now_members
      def gid_differs? = new_resource.gid && (@now.nil? || new_resource.gid.to_s != @now[:gid].to_s)
      def call(change, **settings) = FX.account_words(change, new_resource.group_name, settings)

      def action_create
        return manage("alter") if @now
        r = new_resource
        fx_change("create group #{r.group_name}",
          about(ensure: %w{absent present}) + (r.gid ? about(gid: [nil, r.gid]) : []) +
          (r.members.empty? ? [] : about(members: [[], r.members]))) do
          shell_out!(*call("add_group", gid: r.gid, system: r.system, non_unique: r.non_unique))
          set_members
        end
      end
      def set_members
        return shell_out!(*call("set_members", members: new_resource.members)) unless new_resource.append
        missing.each { |m| shell_out!(*call("add_member", member: m)) }
        leaving.each { |m| shell_out!(*call("remove_member", member: m)) }
      end
      def descriptions
        r = new_resource
        lines = []
        lines << "change gid #{@now[:gid]} to #{r.gid}" if gid_differs?
        if r.append
          lines << "add missing member(s): #{missing.join(", ")}" unless missing.empty?
          lines << "remove existing member(s): #{leaving.join(", ")}" unless leaving.empty?
        elsif r.members.sort != now_members.sort
          lines << "replace group members with new list of members: #{r.members.join(", ")}"
        end
        lines
      end
      def about(properties) = fx_about(:group, new_resource.group_name, properties)
      def differences
        wanted = new_resource.append ? (now_members | missing) - leaving : new_resource.members
        out = gid_differs? ? about(gid: [@now[:gid], new_resource.gid]) : []
        wanted.sort == now_members.sort ? out : out + about(members: [now_members, wanted])
      end
      def manage(word)
        lines = descriptions
        return if lines.empty?
        fx_change(["#{word} group #{new_resource.group_name}"] + lines, differences) do
          if gid_differs?
            shell_out!(*call("change_group", gid: new_resource.gid, non_unique: new_resource.non_unique))
          end
          set_members
        end
      end
      def action_modify = @now && manage("modify")
      def action_manage = @now && manage("manage")
      def action_remove
        return unless @now
        fx_change("remove group #{new_resource.group_name}", about(ensure: %w{present absent})) do
          shell_out!(*call("remove_group"))
        end
      end
    end
  end
end
