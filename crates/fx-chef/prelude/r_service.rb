# service: whether it runs and whether it starts at boot.
require "shellwords"
class Chef
  class Resource
    class Service
      property :supports, Hash, default: { restart: nil, reload: nil, status: nil }, coerce: proc { |x| x.is_a?(Array) ? x.to_h { |i| [i, true] } : x }
      property :pattern, String, default: lazy { service_name }, desired_state: false
      property :options, [Array, String], coerce: proc { |x| x.respond_to?(:split) ? x.shellsplit : x }
    end
  end
  class Provider
    class Service < Chef::Provider
      def load_current_resource
        @name = new_resource.service_name
        @systemd = ::File.directory?("/run/systemd/system") || (shell_which("systemctl") && !::File.exist?("/etc/init.d/#{@name}"))
      end
      def shell_which(c) = ENV["PATH"].to_s.split(":").any? { |d| ::File.executable?("#{d}/#{c}") }
      def ok?(*cmd) = shell_out(*cmd).exitstatus == 0
      def ctl(*args) = shell_out!("systemctl", "--system", *args, timeout: new_resource.timeout)
      def running?
        return @running unless @running.nil?
        @running = if new_resource.status_command then shell_out(new_resource.status_command).exitstatus == 0
                   elsif @systemd then ok?("systemctl", "--system", "is-active", @name, "--quiet")
                   elsif ::File.exist?("/etc/init.d/#{@name}") && new_resource.supports[:status] then ok?("/etc/init.d/#{@name}", "status")
                   else !shell_out("ps", "-ef").stdout.lines.grep(/#{new_resource.pattern}/).empty?
                   end
      end
      def enabled?
        return @enabled unless @enabled.nil?
        @enabled = @systemd ? ok?("systemctl", "--system", "is-enabled", @name, "--quiet") : !::Dir.glob("/etc/rc[2345].d/S[0-9][0-9]#{@name}").empty?
      end
      def known!
        return if @systemd || ::File.exist?("/etc/init.d/#{@name}") || new_resource.start_command || new_resource.init_command || Chef::Config[:why_run]
        fx_unmet(Chef::Exceptions::Service, "#{new_resource}: unable to locate the init.d script!")
      end
      def command(verb)
        given = new_resource.send(:"#{verb}_command")
        return shell_out!(given, timeout: new_resource.timeout) if given
        return ctl(verb.to_s, @name) if @systemd
        base = new_resource.init_command || "/etc/init.d/#{@name}"
        if verb == :restart && !new_resource.supports[:restart]
          command(:stop)
          sleep 1
          return command(:start)
        end
        shell_out!("#{base} #{verb}", timeout: new_resource.timeout)
      end
      def action_enable
        return if enabled?
        converge_by("enable service #{new_resource}") { @systemd ? ctl("enable", @name) : shell_out!("update-rc.d", @name, "defaults") }
      end
      def action_disable
        return unless enabled?
        converge_by("disable service #{new_resource}") { @systemd ? ctl("disable", @name) : shell_out!("update-rc.d", @name, "disable") }
      end
      def action_start
        known!
        return if running?
        converge_by("start service #{new_resource}") { command(:start) }
      end
      def action_stop
        return unless running?
        converge_by("stop service #{new_resource}") { command(:stop) }
      end
      def action_restart
        known!
        converge_by("restart service #{new_resource}") { command(:restart) }
      end
      def action_reload
        known!
        return unless running?
        converge_by("reload service #{new_resource}") { command(:reload) }
      end
      def action_mask
        return if shell_out("systemctl", "--system", "is-enabled", @name).stdout.strip == "masked"
        converge_by("mask service #{new_resource}") { ctl("mask", @name) }
      end
      def action_unmask
        return unless shell_out("systemctl", "--system", "is-enabled", @name).stdout.strip == "masked"
        converge_by("unmask service #{new_resource}") { ctl("unmask", @name) }
      end
      # The ways of the original, which cookbooks subclass; this one finds out for itself.
      %i{Simple Init Systemd Upstart Insserv Invokercd Debian Redhat Arch Gentoo Freebsd Openbsd Solaris Aix AixInit Macosx Windows}.each { |n| const_set(n, Class.new(self)) }
    end
  end
end
