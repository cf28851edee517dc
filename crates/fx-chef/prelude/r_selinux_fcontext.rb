# selinux_fcontext: the label that a policy gives to paths.
FX.load("chef/selinux_shared.rb")
class Chef
  class Provider
    class SelinuxFcontext < Chef::Provider
      include Chef::SELinux::CommonHelpers
      KINDS = { "a" => "all files", "f" => "regular file", "d" => "directory", "c" => "character device",
        "b" => "block device", "s" => "socket", "l" => "symbolic link", "p" => "named pipe" }.freeze
      def load_current_resource = nil
      def context
        r = new_resource
        line = fx_look!("semanage", "fcontext", "-l").stdout.lines.find do |l|
          l.match?(/^#{Regexp.escape(r.file_spec)}\s+#{KINDS[r.file_type]}/)
        end
        line && line.strip.split.last.split(":")[2]
      end
      def relabel
        spec = new_resource.file_spec
        safe = Regexp.escape(spec)
        same = spec.size.times.find { |i| spec[i] != safe[i] }
        top = same ? ::File.dirname(spec[0...same]) : spec
        top = "/" unless top.start_with?("/")
        return unless ::File.exist?(top)
        found = fx_tool!("find", top, "-ignore_readdir_race", "-regextype", "posix-egrep", "-regex", spec, "-prune",
          "-print0").stdout
        fx_tool!("xargs", "-0", "restorecon", "-iRv", input: found)
      end
      def change(text, flags, from, to)
        fx_change(text, fx_about(:selinux_fcontext, new_resource.file_spec, secontext: [from, to])) do
          fx_tool!("semanage", "fcontext", *flags, new_resource.file_spec)
          relabel
        end
      end
      def action_manage
        action_add
        action_modify
      end
      def action_addormodify
        Chef::Log.warn("The :addormodify action for selinux_fcontext is deprecated and will be removed in a future " \
          "release. Use the :manage action instead.")
        action_manage
      end
      def action_add
        r = new_resource
        fx_unless_disabled("add", "fcontext #{r.name}") do
          unless context
            change("adding label #{r.secontext} to #{r.file_spec}", ["-a", "-f", r.file_type, "-t", r.secontext], nil,
              r.secontext)
          end
        end
      end
      def action_modify
        r = new_resource
        fx_unless_disabled("modify", "fcontext #{r.name}") do
          now = context
          if now && now != r.secontext
            change("modifying label #{r.secontext} to #{r.file_spec}", ["-m", "-f", r.file_type, "-t", r.secontext],
              now, r.secontext)
          end
        end
      end
      def action_delete
        r = new_resource
        fx_unless_disabled("delete", "fcontext #{r.name}") do
          now = context
          change("deleting label for #{r.file_spec}", ["-d", "-f", r.file_type], now, nil) if now
        end
      end
    end
  end
end
