# Calls of systemctl, for the system or for a user, by services and units.
class Chef
  class Provider
    module FxSystemctl
      def fx_systemctl = @fx_systemctl ||= which("systemctl") || "systemctl"

      def fx_systemctl_call(verb, unit, must: true, reads: false, **opts)
        user = new_resource.user
        if user
          bus = "unix:path=/run/user/#{Etc.getpwnam(user).uid}/bus"
          opts = { user: user, environment: { "DBUS_SESSION_BUS_ADDRESS" => bus }, **opts }
        end
        opts[:fx_reads] = true if reads
        words = FX.systemctl_words(fx_systemctl, !user.nil?, verb, unit)
        send(must ? :shell_out! : :shell_out, *words, **opts)
      end
    end
  end
end
