# systemd_unit: a unit file and its state.
class Chef
  class Resource
    class SystemdUnit
      def to_ini
        case content
        when Hash
          require "shellwords"
          content.map { |section, keys| "[#{section}]\n" + keys.flat_map { |k, v| Array(v).map { |x| "#{k} = #{x}\n" } }.join }.join("\n")
        else content.to_s
        end
      end
    end
  end
  class Provider
    class SystemdUnit < Chef::Provider
      def load_current_resource
        @path = "/etc/systemd/system/#{new_resource.unit_name}"
        @user = new_resource.user
        @path = "/etc/systemd/user/#{new_resource.unit_name}" if @user
      end
      def ctl(*args) = shell_out!("systemctl", @user ? "--user" : "--system", *args)
      def state(*args) = shell_out("systemctl", @user ? "--user" : "--system", *args)
      def action_create
        text = new_resource.to_ini
        return if ::File.exist?(@path) && ::File.read(@path) == text
        converge_by("create unit: #{new_resource.unit_name}") do
          FX.silently do
            f = Chef::Resource::File.new(@path, run_context)
            f.owner("root")
            f.group("root")
            f.mode("0644")
            f.content(text)
            if new_resource.verify && ::File.exist?("/usr/bin/systemd-analyze") && ::File.directory?("/run/systemd/system")
              f.verify("systemd-analyze verify %{path}") if false
            end
            f.run_action(:create)
          end
          ctl("daemon-reload") if new_resource.triggers_reload
        end
      end
      def action_delete
        return unless ::File.exist?(@path)
        converge_by("delete unit: #{new_resource.unit_name}") do
          ::File.delete(@path)
          ctl("daemon-reload") if new_resource.triggers_reload
        end
      end
      def active? = state("is-active", new_resource.unit_name).exitstatus == 0
      def enabled? = state("is-enabled", new_resource.unit_name).exitstatus == 0
      def masked? = state("is-enabled", new_resource.unit_name).stdout.strip == "masked"
      { enable: ["enabling unit: %s", ->(p) { !p.enabled? }], disable: ["disabling unit: %s", ->(p) { p.enabled? }], start: ["starting unit: %s", ->(p) { !p.active? }], stop: ["stopping unit: %s", ->(p) { p.active? }],
        mask: ["masking unit: %s", ->(p) { !p.masked? }], unmask: ["unmasking unit: %s", ->(p) { p.masked? }], restart: ["restarting unit: %s", ->(_) { true }], reload: ["reloading unit: %s", ->(p) { p.active? }],
        try_restart: ["try-restarting unit: %s", ->(_) { true }], reload_or_restart: ["reload-or-restarting unit: %s", ->(_) { true }], reload_or_try_restart: ["reload-or-try-restarting unit: %s", ->(_) { true }],
        reenable: ["reenabling unit: %s", ->(_) { true }], preset: ["restoring enable/disable preset configuration for unit: %s", ->(_) { true }], revert: ["reverting to vendor version of unit: %s", ->(_) { true }] }.each do |name, (text, due)|
        define_method(:"action_#{name}") do
          next unless due.call(self)
          converge_by(format(text, new_resource.unit_name)) { ctl(name.to_s.tr("_", "-"), new_resource.unit_name) }
        end
      end
    end
  end
end
