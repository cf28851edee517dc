# user: accounts, through useradd, usermod and userdel.
class Chef
  class Provider
    class User < Chef::Provider
      def load_current_resource
        r = new_resource
        @now = FX.account_user(r.username)
        r.gid(gid_of(r.gid)) if @now && r.gid
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
        group = FX.account_group(g.to_s)
        return group[:gid] if group
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
          !r.send(k).nil? && !same?(k)
        end
      end
      # Days that are not given are -1 to the tools.
      def same?(property)
        wanted, now = new_resource.send(property).to_s, @now[property].to_s
        wanted == now || (now == "" && wanted == "-1" && %i{expire_date inactive}.include?(property))
      end
      # What is not limited is shown as minus one day, and that day as a date.
      UNLIMITED = { expire_date: "1969-12-31", inactive: -1 }.freeze
      def now(property) = @now[property].to_s == "" ? UNLIMITED[property] : @now[property]
      def descriptions
        r = new_resource
        lines = home_differs? ? ["change homedir from #{@now[:home]} to #{r.home}"] : []
        lines + differences.map do |k|
          hidden = k == :password
          "change #{k} from #{hidden ? "********" : now(k)} to #{hidden ? "********" : r.send(k)}"
        end
      end
      # What useradd or usermod is to set; the two that the original always names, and what differs.
      def attributes
        r = new_resource
        set = %i{comment expire_date gid inactive shell uid}.select do |k|
          v = r.send(k)
          always = %i{expire_date inactive}.include?(k) || (k == :uid && r.non_unique)
          !v.nil? && v != "" && (always || @now.nil? || !same?(k))
        end
        set = set.to_h { |k| [k, r.send(k)] }
        home_differs? ? set.merge(home: r.home) : set
      end
      def call(change, **settings) = FX.account_words(change, new_resource.username, settings)
      # A hash among the words of a command is seen by everybody, so it is handed over apart.
      def set_password
        r = new_resource
        hash = r.password
        return if hash.nil? || hash == "" || @now && hash == @now[:password]
        out = shell_out(*call("set_password"), input: FX.password_line(r.username, hash), sensitive: true)
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
          shell_out!(*call("add_user", system: r.system, manage_home: r.manage_home, non_unique: r.non_unique,
            **attributes))
          set_password
          Chef::Log.info("#{r} created")
        end
      end
      def manage(word)
        lines = descriptions
        return if lines.empty?
        r = new_resource
        changes = home_differs? ? about(:home, @now[:home], r.home) : []
        changes += differences.flat_map { |k| about(k, @now[k], r.send(k)) }
        fx_change(["#{word} user #{r.username}"] + lines, changes) do
          unless attributes.empty?
            moves = home_differs? && r.manage_home
            words = call("change_user", manage_home: moves, non_unique: r.non_unique, **attributes)
            out = shell_out(*words, returns: [0, 12])
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
          shell_out!(*call("remove_user", manage_home: new_resource.manage_home, force: new_resource.force))
        end
      end
      def locked?
        r = new_resource
        if @now.nil?
          return false if whyrun_mode?
          raise Chef::Exceptions::User, "User #{r.username} does not exist when checking lock status for #{r}"
        end
        return @now[:locked] unless @now[:locked].nil?
        raise Chef::Exceptions::User, "Cannot determine if user #{r.username} is locked for #{r}"
      end
      def action_lock
        unless locked?
          fx_change("lock the user #{new_resource.username}", about(:locked, false, true)) do
            shell_out!(*call("lock_user"))
          end
        end
      end
      def action_unlock
        if locked?
          fx_change("unlock user #{new_resource.username}", about(:locked, true, false)) do
            shell_out!(*call("unlock_user"))
          end
        end
      end
    end
  end
end
