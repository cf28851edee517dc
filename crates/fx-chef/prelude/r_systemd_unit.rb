# systemd_unit: a unit file and its state.
FX.load("chef/systemctl.rb")
class Chef
  class Resource
    class SystemdUnit
      def to_ini
        case content
        when Hash
          require "shellwords"
          content.map { |section, keys| "[#{section}]\n" +
            keys.flat_map { |k, v| Array(v).map { |x| "#{k} = #{x}\n" } }.join }.join("\n")
        else content.to_s
        end
      end
    end
  end
  class Provider
    class SystemdUnit < FxComposite
      include FxSystemctl
      def unit = new_resource.unit_name
      def path = "/etc/systemd/#{new_resource.user ? "user" : "system"}/#{unit}"

      def systemctl(verb, **opts) = fx_systemctl_call(verb, verb == "daemon-reload" ? nil : unit, **opts)

      # Whether it is active, whether it is enabled, and the state of its file.
      def status = @status ||= FX.unit_state(systemctl("show", must: false, reads: true).stdout) || [false, false, nil]
      def file_state = status[2]
      def active? = status[0]
      def enabled? = status[1]
      # Units that nothing switches on or off by themselves.
      def fixed? = %w{static indirect}.include?(file_state)

      def write(how)
        r, text = new_resource, new_resource.to_ini
        file path do
          owner "root"
          group "root"
          mode "0644"
          sensitive r.sensitive
          content text
          verify :systemd_unit if r.verify
          action how
        end
        systemctl("daemon-reload") if r.triggers_reload
      end

      action(:create) do
        now = ::File.exist?(path) ? ::File.read(path) : nil
        changes = fx_about(:file, path, content: [now ? FX.digest(now) : "absent", FX.digest(new_resource.to_ini)])
        fx_change("creating unit: #{unit}", changes) { write(:create) } if now != new_resource.to_ini
      end
      action(:delete) do
        if ::File.exist?(path)
          fx_change("deleting unit: #{unit}", fx_about(:file, path, ensure: %w{file absent})) { write(:delete) }
        end
      end

      FILE_STATES = { enable: "enabled", disable: "disabled", mask: "masked", unmask: "unmasked", reenable: "reenabled",
        preset: "as preset" }.freeze
      # What an action changes of the unit's state.
      def about(verb)
        property, from, to = case verb
                             when :start then [:active, false, true]
                             when :stop then [:active, true, false]
                             when *FILE_STATES.keys then [:unit_file_state, file_state, FILE_STATES[verb]]
                             when :revert then [:unit_file, nil, "of the vendor"]
                             else [:active, active?, verb]
                             end
        fx_about(:service, unit, property => [from, to])
      end

      # What each of the others says, and when there is something to do.
      {
        preset: ["restoring enable/disable preset configuration for", :always],
        revert: ["reverting to vendor version of", :always],
        enable: ["enabling", ->(p) { !p.enabled? && !p.fixed? }],
        disable: ["disabling", ->(p) { p.enabled? && !p.fixed? }],
        reenable: ["reenabling", :always],
        mask: ["masking", ->(p) { p.file_state != "masked" }],
        unmask: ["unmasking", ->(p) { p.file_state == "masked" }],
        start: ["starting", ->(p) { !p.active? }],
        stop: ["stopping", ->(p) { p.active? }],
        restart: ["restarting", :always],
        reload: ["reloading", ->(p) { p.active? }],
        try_restart: ["try-restarting", :always],
        reload_or_restart: ["reload-or-restarting", :always],
        reload_or_try_restart: ["reload-or-try-restarting", :always],
      }.each do |name, (said, due)|
        action(name) do
          next unless due == :always || due.call(self)
          fx_change("#{said} unit: #{unit}", about(name)) { systemctl(name.to_s.tr("_", "-")) }
        end
      end
    end
  end
end
