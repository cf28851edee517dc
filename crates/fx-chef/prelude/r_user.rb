# user: accounts, through useradd and its kin.
class Chef
  class Resource
    class User
      alias group gid
    end
  end
  class Provider
    class User < Chef::Provider
      WANTED = { comment: "-c", expire_date: "-e", gid: "-g", inactive: "-f", shell: "-s", uid: "-u" }.freeze

      def load_current_resource
        r = new_resource
        out = fx_look("getent", "--", "passwd", r.username)
        f = out.exitstatus == 0 ? out.stdout.strip.split(":", -1) : nil
        return unless f
        @now = { uid: f[2].to_i, gid: f[3].to_i, comment: f[4], home: f[5], shell: f[6], password: f[1] }
        shadow = ::File.readable?("/etc/shadow") ?
          ::File.readlines("/etc/shadow").find { |l| l.start_with?("#{r.username}:") }&.chomp&.split(":", -1) : nil
        if shadow
          @now[:password] = shadow[1]
          @now[:inactive] = shadow[6].to_s.empty? ? nil : shadow[6].to_i
          @now[:expire_date] = shadow[7].to_s.empty? ? nil : Time.at(shadow[7].to_i * 86_400).utc.strftime("%Y-%m-%d")
        end
        r.gid(gid_of(r.gid)) if r.gid
      end
      def define_resource_requirements
        r = new_resource
        requirements.assert(:create, :modify, :manage, :lock, :unlock) do |a|
          a.assertion { !@unknown_group }
          a.failure_message Chef::Exceptions::User, "Couldn't lookup integer GID for group name #{r.gid}"
          a.whyrun "group name #{r.gid} does not exist.  This will cause group assignment to fail.  Assuming this " \
            "group will have been created previously."
        end
        requirements.assert(:modify, :lock, :unlock) do |a|
          a.assertion { @now }
          a.failure_message Chef::Exceptions::User, "Cannot modify user #{r.username} - does not exist!"
          a.whyrun "Assuming user #{r.username} would have been created"
        end
      end
      def gid_of(g)
        return g.to_i if g.to_s.match?(/\A\d+\z/)
        out = fx_look("getent", "--", "group", g.to_s)
        return out.stdout.split(":")[2].to_i if out.exitstatus == 0
        @unknown_group = true
        g
      end
      def home_differs?
        home = new_resource.home
        home && (@now.nil? || ::File.expand_path(home) != ::File.expand_path(@now[:home]))
      end
      # What is wanted and not so yet, in the order the original compares it.
      def differences
        r = new_resource
        %i{comment shell password uid gid expire_date inactive}.select do |k|
          !r.send(k).nil? && r.send(k).to_s != @now[k].to_s
        end
      end
      def told
        r = new_resource
        lines = home_differs? ? ["change homedir from #{@now[:home]} to #{r.home}"] : []
        lines + differences.map do |k|
          hidden = k == :password
          "change #{k} from #{hidden ? "********" : @now[k]} to #{hidden ? "********" : r.send(k)}"
        end
      end
      def options
        r = new_resource
        args = WANTED.flat_map do |k, flag|
          v = r.send(k)
          always = k == :expire_date || k == :inactive
          !v.nil? && v != "" && (always || @now.nil? || v.to_s != @now[k].to_s) ? [flag, v.to_s] : []
        end
        args.push("-d", r.home) if home_differs?
        args.push("-o") if r.non_unique
        args
      end
      # A hash among the words of a command is seen by everybody, so it is handed over apart.
      def set_password
        r = new_resource
        hash = r.password
        return if hash.nil? || hash == "" || @now && hash == @now[:password]
        if hash.include?("\n") || r.username.match?(/[:\n]/)
          raise Chef::Exceptions::User, "the password of #{r.username} has a line break"
        end
        out = shell_out("chpasswd", "-e", input: "#{r.username}:#{hash}\n", sensitive: true)
        if out.error?
          raise Chef::Exceptions::User,
            "chpasswd could not set the password of #{r.username}: exit code #{out.exitstatus}"
        end
      end

      # A hash of a password is a secret.
      def about(property, from, to) = [[:user, new_resource.username, property, from, to, property == :password]]
      # Properties that a new account gets.
      def wanted
        %i{uid gid comment home shell password expire_date inactive}.flat_map do |k|
          new_resource.send(k).nil? ? [] : about(k, nil, new_resource.send(k))
        end
      end

      def action_create
        return manage("alter") if @now
        r = new_resource
        fx_change("create user #{r.username}", about(:ensure, "absent", "present") + wanted) do
          shell_out!("useradd", *options, *(r.system ? ["-r"] : []), r.manage_home ? "-m" : "-M", "--", r.username)
          set_password
          Chef::Log.info("#{r} created")
        end
      end
      def manage(word)
        lines = told
        return if lines.empty?
        r = new_resource
        changes = home_differs? ? about(:home, @now[:home], r.home) : []
        changes += differences.flat_map { |k| about(k, @now[k], r.send(k)) }
        fx_change(["#{word} user #{r.username}"] + lines, changes) do
          more = r.non_unique ? ["-u", r.uid.to_s] : []
          more << "-m" if home_differs? && r.manage_home
          words = [*options, *more]
          unless words.empty?
            out = shell_out("usermod", *words, "--", r.username, returns: [0, 12])
            if out.exitstatus == 12 && !out.stderr.include?("exists")
              raise Chef::Exceptions::User, "Unable to modify home directory for #{r.username}"
            end
            out.error!
          end
          set_password
        end
      end
      def action_manage = @now && manage("manage")
      def action_modify = @now && manage("modify")
      def action_remove
        return unless @now
        fx_change("remove user #{new_resource.username}", about(:ensure, "present", "absent")) do
          shell_out!("userdel", *(new_resource.manage_home ? ["-r"] : []), *(new_resource.force ? ["-f"] : []), "--",
            new_resource.username)
        end
      end
      def locked?
        out = fx_look("passwd", "-S", "--", new_resource.username, returns: [0, 1])
        if out.stderr.include?("does not exist")
          return false if whyrun_mode?
          raise Chef::Exceptions::User,
            "User #{new_resource.username} does not exist when checking lock status for #{new_resource}"
        end
        out.error!
        case out.stdout.split(" ")[1]
        when /\A[PN]/ then false
        when /\AL/ then true
        else raise Chef::Exceptions::User,
          "Cannot determine if user #{new_resource.username} is locked for #{new_resource}"
        end
      end
      def action_lock
        unless locked?
          fx_change("lock the user #{new_resource.username}", about(:locked, false, true)) do
            shell_out!("usermod", "-L", "--", new_resource.username)
          end
        end
      end
      def action_unlock
        if locked?
          fx_change("unlock user #{new_resource.username}", about(:locked, true, false)) do
            shell_out!("usermod", "-U", "--", new_resource.username)
          end
        end
      end
    end
  end
end
