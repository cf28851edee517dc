# user: accounts, through useradd and its kin.
class Chef
  class Provider
    class User < Chef::Provider
      def load_current_resource
        r = new_resource
        out = shell_out("getent", "passwd", r.username)
        f = out.exitstatus == 0 ? out.stdout.strip.split(":", -1) : nil
        @now = f && { uid: f[2].to_i, gid: f[3].to_i, comment: f[4], home: f[5], shell: f[6] }
        @shadow = @now && ::File.readable?("/etc/shadow") ? ::File.readlines("/etc/shadow").find { |l| l.start_with?("#{r.username}:") }&.split(":", -1)&.at(1) : nil
      end
      def gid_of(g)
        return nil if g.nil?
        return g.to_i if g.to_s.match?(/\A\d+\z/)
        out = shell_out("getent", "group", g.to_s)
        fx_unmet(Chef::Exceptions::GroupIDNotFound, "Couldn't lookup integer GID for group name #{g}") if out.exitstatus != 0
        out.stdout.split(":")[2].to_i
      end
      def differences
        r = new_resource
        d = {}
        d["-u"] = r.uid.to_s if r.uid && r.uid.to_i != @now[:uid]
        d["-g"] = gid_of(r.gid).to_s if r.gid && gid_of(r.gid) != @now[:gid]
        d["-c"] = r.comment if r.comment && r.comment != @now[:comment]
        d["-d"] = r.home if r.home && ::File.expand_path(r.home) != ::File.expand_path(@now[:home])
        d["-s"] = r.shell if r.shell && r.shell != @now[:shell]
        d["-p"] = r.password if r.password && r.password != @shadow
        d
      end
      def action_create
        return manage if @now
        r = new_resource
        converge_by("create user #{r.username}") do
          args = []
          args.push("-u", r.uid.to_s) if r.uid
          args.push("-g", r.gid.to_s) if r.gid
          args.push("-c", r.comment) if r.comment
          args.push("-d", r.home) if r.home
          args.push("-s", r.shell) if r.shell
          args.push("-p", r.password) if r.password
          args.push("-o") if r.non_unique
          args.push("-r") if r.system
          args.push(r.manage_home ? "-m" : "-M")
          shell_out!("useradd", *args, r.username)
        end
      end
      def manage
        d = differences
        return if d.empty?
        converge_by("modify user #{new_resource.username}") do
          args = d.flat_map { |k, v| [k, v] }
          args << "-m" if d["-d"] && new_resource.manage_home
          shell_out!("usermod", *args, new_resource.username)
        end
      end
      def action_manage = @now && manage
      def action_modify = @now ? manage : raise(Chef::Exceptions::User, "Cannot modify user #{new_resource.username} - does not exist!")
      def action_remove
        return unless @now
        converge_by("remove user #{new_resource.username}") do
          shell_out!("userdel", *(new_resource.manage_home ? ["-r"] : []), *(new_resource.force ? ["-f"] : []), new_resource.username)
        end
      end
      def locked? = @shadow.to_s.start_with?("!")
      def action_lock
        fx_unmet(Chef::Exceptions::User, "Cannot lock user #{new_resource.username} - does not exist!") unless @now
        converge_by("lock the user #{new_resource.username}") { shell_out!("usermod", "-L", new_resource.username) } unless locked?
      end
      def action_unlock
        fx_unmet(Chef::Exceptions::User, "Cannot unlock user #{new_resource.username} - does not exist!") unless @now
        converge_by("unlock user #{new_resource.username}") { shell_out!("usermod", "-U", new_resource.username) } if locked?
      end
    end
  end
end
