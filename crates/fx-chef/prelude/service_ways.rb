# The ways to handle a service: by given commands, by scripts in init.d with the tools of the
# distributions, and by systemd.
class Chef
  class Provider
    class Service
      # By commands that the recipe gives; running is what the process table shows.
      class Simple < Service
        def load_current_resource
          super
          @current_resource = Chef::Resource::Service.new(new_resource.name)
          current_resource.service_name(new_resource.service_name)
          @status_load_success = true
          determine_current_status!
          current_resource
        end

        def shared_resource_requirements
          super
          requirements.assert(:all_actions) do |a|
            a.assertion { @status_load_success }
            a.whyrun ["Service status not available. Assuming a prior action would have installed the service.", "Assuming status of not running."]
          end
        end

        def define_resource_requirements
          shared_resource_requirements
          r = new_resource
          {
            start: [-> { r.start_command }, Chef::Exceptions::Service, "requires that start_command be set"],
            stop: [-> { r.stop_command }, Chef::Exceptions::Service, "requires that stop_command be set"],
            restart: [-> { r.restart_command || (r.start_command && r.stop_command) }, Chef::Exceptions::Service,
                      "requires a restart_command or both start_command and stop_command be set in order to perform a restart"],
            reload: [-> { r.reload_command }, Chef::Exceptions::UnsupportedAction, "requires a reload_command be set in order to perform a reload"],
          }.each do |verb, (given, error, text)|
            requirements.assert(verb) do |a|
              a.assertion { given.call }
              a.failure_message error, "#{self} #{text}"
            end
          end
          requirements.assert(:all_actions) do |a|
            a.assertion { r.status_command || supports[:status] || !ps_cmd.to_s.empty? }
            a.failure_message Chef::Exceptions::Service, "#{r} could not determine how to inspect the process table, please set this node's 'command.ps' attribute"
          end
          requirements.assert(:all_actions) do |a|
            a.assertion { !@ps_command_failed }
            a.failure_message Chef::Exceptions::Service, "Command #{ps_cmd} failed to execute, cannot determine service current status"
          end
        end

        def start_service = shell_out!(new_resource.start_command, default_env: false)
        def stop_service = shell_out!(new_resource.stop_command, default_env: false)
        def reload_service = shell_out!(new_resource.reload_command, default_env: false)
        def restart_service
          return shell_out!(new_resource.restart_command, default_env: false) if new_resource.restart_command
          stop_service
          sleep 1
          start_service
        end

        def ps_cmd = node[:command] && node[:command][:ps]

        def determine_current_status!
          asked = new_resource.status_command || supports[:status]
          if asked
            out = new_resource.status_command ? shell_out(new_resource.status_command) : init_script(:status)
            current_resource.running(true) if out.exitstatus == 0
          else
            wanted = Regexp.new(new_resource.pattern)
            current_resource.running(shell_out!(ps_cmd, fx_reads: true).stdout.lines.any? { |l| wanted.match?(l) })
          end
        rescue Mixlib::ShellOut::ShellCommandFailed, SystemCallError
          asked ? (@status_load_success = false; current_resource.running(false)) : @ps_command_failed = true
        end
      end

      # By a script in init.d.
      class Init < Simple
        attr_accessor :init_command
        def initialize(new_resource, run_context)
          super
          @init_command = "/etc/init.d/#{new_resource.service_name}"
          @init_words = [@init_command]
        end

        # A command of the recipe is a line for the shell; ours is a list of words.
        def init_script(verb, **opts)
          own = new_resource.init_command
          return shell_out([own, verb].join(" "), **opts) if own
          verb == :status ? fx_look(*@init_words, verb, **opts) : fx_tool(*@init_words, verb, **opts)
        end

        def define_resource_requirements
          shared_resource_requirements
          requirements.assert(:start, :stop, :restart, :reload) do |a|
            a.assertion { custom_command_for_action?(action) || ::File.exist?(default_init_command) }
            a.failure_message(Chef::Exceptions::Service, "#{default_init_command} does not exist!")
            a.whyrun("Init script '#{default_init_command}' doesn't exist, assuming a prior action would have created it.") { @status_load_success = false }
          end
        end

        def needs(tool)
          requirements.assert(:all_actions) do |a|
            a.assertion { ::File.exist?(tool) }
            a.failure_message Chef::Exceptions::Service, "#{tool} does not exist!"
          end
        end

        def script(verb) = init_script(verb, default_env: false).tap(&:error!)
        def start_service = new_resource.start_command ? super : script(:start)
        def stop_service = new_resource.stop_command ? super : script(:stop)
        def restart_service = !new_resource.restart_command && supports[:restart] ? script(:restart) : super
        def reload_service
          return super if new_resource.reload_command
          script(:reload) if supports[:reload]
        end
      end

      class Invokercd < Init
        def initialize(new_resource, run_context)
          super
          @init_command = "/usr/sbin/invoke-rc.d #{new_resource.service_name}"
          @init_words = ["/usr/sbin/invoke-rc.d", new_resource.service_name]
        end
      end

      class Insserv < Init
        def load_current_resource
          super
          current_resource.enabled(!::Dir.glob("/etc/rc*/**/S*#{current_resource.service_name}").empty?)
          current_resource
        end
        def enable_service
          disable_service
          fx_tool!("/sbin/insserv", "-d", "-f", "--", new_resource.service_name)
        end
        def disable_service = fx_tool!("/sbin/insserv", "-r", "-f", "--", new_resource.service_name)
      end

      # Scripts with links for each run level, made by update-rc.d.
      class Debian < Init
        TOOL = "/usr/sbin/update-rc.d"
        LEVELS = %w{1 2 3 4 5 S}.freeze

        def load_current_resource
          super
          current_resource.priority(priorities)
          current_resource.enabled(priorities.any? { |level, (way, _)| LEVELS.include?(level) && way == :start })
          current_resource
        end

        def define_resource_requirements
          shared_resource_requirements
          needs(TOOL)
        end

        # The levels that the script names, with the links that are there for them.
        def priorities
          @priorities ||= begin
            text = ::File.exist?(@init_command) ? ::File.read(@init_command) : ""
            head = text[/^### BEGIN INIT INFO(.*?)(^### END INIT INFO|\z)/m, 1].to_s
            levels = head.scan(/Default-(?:Start|Stop):\s+(\d.*)/).flatten.flat_map(&:split)
            links = levels.flat_map { |l| ::Dir.glob("/etc/rc#{l}.d/[SK][0-9][0-9]#{new_resource.service_name}") }
            links.filter_map { |l| l.match(%r{/rc([\dS]).d/([SK])(\d\d)}i) }.to_h { |m| [m[1], [m[2] == "S" ? :start : :stop, m[3]]] }
          end
        end

        action(:enable) do
          wanted = new_resource.priority
          right = wanted.nil? || current_resource.priority == wanted
          changes = about(:enabled, !!current_resource.enabled, true)
          changes += about(:priority, current_resource.priority, wanted) unless right
          fx_change("enable service #{new_resource}", changes) { enable_service } unless current_resource.enabled && right
          load_new_resource_state
          new_resource.enabled(true)
        end

        def rc(*words) = fx_tool!(TOOL, *words)
        def enable_service
          name, wanted = new_resource.service_name, new_resource.priority
          return set_priority if wanted.is_a?(Hash)
          start = wanted.is_a?(Integer) ? wanted : 20
          rc("-f", name, "remove")
          rc(name, "defaults", start, 100 - start)
        end
        def disable_service
          name = new_resource.service_name
          return set_priority if new_resource.priority.is_a?(Hash)
          rc("-f", name, "remove")
          rc(name, "defaults")
          rc(name, "disable")
        end
        def set_priority
          name = new_resource.service_name
          rc("-f", name, "remove")
          rc(name, "defaults")
          new_resource.priority.each { |level, (way, _)| rc(name, way == :start ? "enable" : "disable", level) }
        end
      end

      # Scripts that chkconfig switches on and off.
      class Redhat < Init
        TOOL = "/sbin/chkconfig"
        def initialize(new_resource, run_context)
          super
          @init_command = "/sbin/service #{new_resource.service_name}"
          @init_words = ["/sbin/service", new_resource.service_name]
          @now = []
        end
        def run_levels = new_resource.run_levels || []

        def load_current_resource
          supports[:status] = true if supports[:status].nil?
          super
          if ::File.exist?(TOOL)
            out = fx_look!(TOOL, "--list", current_resource.service_name, returns: [0, 1])
            @now = out.stdout.scan(/(\d):on/).flatten.map(&:to_i)
            current_resource.enabled(run_levels.empty? ? !@now.empty? : @now.sort == run_levels.sort)
            @missing = out.stderr.include?("No such")
          end
          current_resource
        end

        def define_resource_requirements
          shared_resource_requirements
          needs(TOOL)
          requirements.assert(:enable) do |a|
            a.assertion { !@missing }
            a.failure_message Chef::Exceptions::Service, "#{new_resource}: Service is not known to chkconfig."
            a.whyrun "Assuming service would be enabled. The init script is not presently installed."
          end
          requirements.assert(:start, :reload, :restart) do |a|
            a.assertion { new_resource.init_command || custom_command_for_action?(action) || !@missing }
            a.failure_message Chef::Exceptions::Service, "#{new_resource}: No custom command for #{action} specified and unable to locate the init.d script!"
            a.whyrun "Assuming service would be enabled. The init script is not presently installed."
          end
        end

        def levels(list = run_levels) = list.empty? ? [] : ["--level", list.join]
        def enable_service
          over = @now - run_levels
          fx_tool!(TOOL, *levels(over), new_resource.service_name, "off") unless run_levels.empty? || over.empty?
          fx_tool!(TOOL, *levels, new_resource.service_name, "on")
        end
        def disable_service = fx_tool!(TOOL, *levels, new_resource.service_name, "off")
      end

      class Systemd < Simple
        UNITS = %w{/etc/systemd/system /usr/lib/systemd/system /lib/systemd/system /run/systemd/system}.freeze
        def self.supports?(resource, _action)
          name = resource.service_name
          ::File.exist?("/etc/init.d/#{name}") || UNITS.any? { |d| [name, "#{name.sub(/@.*$/, "@")}.service"].any? { |f| ::File.exist?("#{d}/#{f}") } }
        end

        def user_services_requirements = nil
        def define_resource_requirements
          shared_resource_requirements
          requirements.assert(:all_actions) do |a|
            a.assertion { !@unknown }
            a.whyrun ["Failed to determine status of #{new_resource}, using command #{new_resource.status_command}.", "Assuming service would have been installed and is disabled"]
          end
        end

        def load_current_resource
          @status_load_success = true
          @current_resource = Chef::Resource::Service.new(new_resource.name)
          current_resource.service_name(new_resource.service_name)
          if new_resource.status_command
            @unknown = shell_out(new_resource.status_command).error?
            current_resource.running(!@unknown)
          else
            current_resource.running(status["ActiveState"] == "active")
          end
          state = status["UnitFileState"]
          current_resource.enabled(state == "bad" ? systemctl("is-enabled", "--quiet", must: false, reads: true).exitstatus == 0 : %w{enabled static generated alias indirect}.include?(state))
          current_resource.masked(state == "masked")
          current_resource.static(state == "static")
          current_resource.indirect(state == "indirect")
          current_resource
        end

        def status
          @status ||= begin
            out = systemctl("show", "-p", "UnitFileState", "-p", "ActiveState", reads: true).stdout
            found = out.lines.to_h { |l| l.strip.split("=", 2).values_at(0, 1) }
            raise Chef::Exceptions::Service, "'#{tool} show' not reporting status for #{new_resource.service_name}!" unless found.key?("UnitFileState") && found.key?("ActiveState")
            found
          end
        end

        def tool = @tool ||= which("systemctl") || "systemctl"
        def systemctl(verb, *flags, must: true, reads: false, **opts)
          kind, name = "--system", new_resource.service_name
          if (user = new_resource.user)
            kind = "--user"
            opts = { user: user, environment: { "DBUS_SESSION_BUS_ADDRESS" => "unix:path=/run/user/#{Etc.getpwnam(user).uid}/bus" }, **opts }
          end
          words = [*flags, *(name.start_with?("-") ? ["--"] : []), name]
          words = [name, *flags] unless verb == "show" || name.start_with?("-")
          opts[:fx_reads] = true if reads
          send(must ? :shell_out! : :shell_out, tool, kind, verb, *words, **opts)
        end

        # A unit that is masked or that nothing enables by itself is left as it is.
        def enableable?(_verb) = !current_resource.masked && !current_resource.static && !current_resource.indirect
        %w{enable disable mask unmask}.each { |verb| define_method(:"#{verb}_service") { systemctl(verb) } }
        def start_service = new_resource.start_command ? super : systemctl("start", default_env: false)
        def stop_service = new_resource.stop_command ? super : systemctl("stop", default_env: false)
        def restart_service = new_resource.restart_command ? super : systemctl("restart", default_env: false)
        def reload_service = new_resource.reload_command ? super : systemctl("reload", default_env: false)
      end

      # The ways of other systems, which cookbooks name; none of them is on Linux today.
      %i{Upstart Arch Gentoo Freebsd Openbsd Netbsd Solaris Aix AixInit Macosx Windows}.each { |n| const_set(n, Class.new(Init)) }
    end
  end
end
