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
            a.whyrun ["Service status not available. Assuming a prior action would have installed the service.",
              "Assuming status of not running."]
          end
        end

        def define_resource_requirements
          shared_resource_requirements
          r = new_resource
          {
            start: [-> { r.start_command }, Chef::Exceptions::Service, "requires that start_command be set"],
            stop: [-> { r.stop_command }, Chef::Exceptions::Service, "requires that stop_command be set"],
            restart: [-> { r.restart_command || (r.start_command && r.stop_command) }, Chef::Exceptions::Service,
                      "requires a restart_command or both start_command and stop_command be set in order to perform " \
                      "a restart"],
            reload: [-> { r.reload_command }, Chef::Exceptions::UnsupportedAction,
            "requires a reload_command be set in order to perform a reload"],
          }.each do |verb, (given, error, text)|
            requirements.assert(verb) do |a|
              a.assertion { given.call }
              a.failure_message error, "#{self} #{text}"
            end
          end
          requirements.assert(:all_actions) do |a|
            a.assertion { r.status_command || supports[:status] || !ps_cmd.to_s.empty? }
            a.failure_message Chef::Exceptions::Service,
              "#{r} could not determine how to inspect the process table, please set this node's 'command.ps' attribute"
          end
          requirements.assert(:all_actions) do |a|
            a.assertion { !@ps_command_failed }
            a.failure_message Chef::Exceptions::Service,
              "Command #{ps_cmd} failed to execute, cannot determine service current status"
          end
        end

        def start_service = shell_out!(new_resource.start_command, default_env: false)
        def stop_service = shell_out!(new_resource.stop_command, default_env: false)
        def reload_service = shell_out!(new_resource.reload_command, default_env: false)
        def restart_service
          return shell_out!(new_resource.restart_command, default_env: false) if new_resource.restart_command
          stop_service
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
            a.whyrun("Init script '#{default_init_command}' doesn't exist, assuming a prior action would have " \
              "created it.") do
              @status_load_success = false
            end
          end
        end

        LEVELS = %w{0 1 2 3 4 5 6 S}.freeze
        # Makes it start at boot, or not, by the tool that this system has for it.
        def at_boot(tool, on, *order)
          FX.boot_commands(tool, new_resource.service_name, on, *order).each { |words| fx_tool!(*words) }
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
          current_resource.enabled(FX.boot_links(new_resource.service_name, LEVELS).any? { |_, starts| starts })
          current_resource
        end
        def enable_service = at_boot("insserv", true)
        def disable_service = at_boot("insserv", false)
      end

      # Scripts with links for each run level, made by update-rc.d.
      class Debian < Init
        TOOL = "/usr/sbin/update-rc.d"

        def load_current_resource
          super
          current_resource.priority(priorities)
          current_resource.enabled(
            priorities.any? { |level, (way, _)| %w{1 2 3 4 5 S}.include?(level) && way == :start })
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
            links = FX.boot_links(new_resource.service_name, levels)
            links.to_h { |level, starts, order| [level, [starts ? :start : :stop, order]] }
          end
        end

        action(:enable) do
          wanted = new_resource.priority
          right = wanted.nil? || current_resource.priority == wanted
          changes = current_resource.enabled ? [] : about(:enabled, false, true)
          changes += about(:priority, current_resource.priority, wanted) unless right
          unless current_resource.enabled && right
            fx_change("enable service #{new_resource}", changes) { enable_service }
          end
          load_new_resource_state
          new_resource.enabled(true)
        end

        # A number for all levels, or what each level does.
        def wanted
          given = new_resource.priority
          given.is_a?(Hash) ? given.map { |level, (way, _)| [level, way == :start] } : given
        end
        def enable_service = at_boot("update-rc.d", true, wanted)
        def disable_service = at_boot("update-rc.d", false, wanted)
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
            a.failure_message Chef::Exceptions::Service,
              "#{new_resource}: No custom command for #{action} specified and unable to locate the init.d script!"
            a.whyrun "Assuming service would be enabled. The init script is not presently installed."
          end
        end

        def enable_service = at_boot("chkconfig", true, nil, run_levels.join, (@now - run_levels).join)
        def disable_service = at_boot("chkconfig", false, nil, run_levels.join)
      end

      class Systemd < Simple
        include FxSystemctl
        UNITS = %w{/etc/systemd/system /usr/lib/systemd/system /lib/systemd/system /run/systemd/system}.freeze
        def self.supports?(resource, _action)
          name = resource.service_name
          ::File.exist?("/etc/init.d/#{name}") || UNITS.any? do |d|
            [name, "#{name.sub(/@.*$/, "@")}.service"].any? { |f| ::File.exist?("#{d}/#{f}") }
          end
        end

        def user_services_requirements = nil
        def define_resource_requirements
          shared_resource_requirements
          requirements.assert(:all_actions) do |a|
            a.assertion { !@unknown }
            a.whyrun ["Failed to determine status of #{new_resource}, using command #{new_resource.status_command}.",
              "Assuming service would have been installed and is disabled"]
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
            current_resource.running(status[0])
          end
          state = status[2]
          current_resource.enabled(
            state == "bad" ? systemctl("is-enabled", must: false, reads: true).exitstatus == 0 : status[1])
          current_resource.masked(state == "masked")
          current_resource.static(state == "static")
          current_resource.indirect(state == "indirect")
          current_resource
        end

        def status
          @status ||= FX.unit_state(systemctl("show", reads: true).stdout) ||
            raise(Chef::Exceptions::Service,
            "'#{fx_systemctl} show' not reporting status for #{new_resource.service_name}!")
        end

        def systemctl(verb, **opts) = fx_systemctl_call(verb, new_resource.service_name, **opts)

        # A unit that is masked or that nothing enables by itself is left as it is.
        def enableable?(_verb) = !current_resource.masked && !current_resource.static && !current_resource.indirect
        %w{enable disable mask unmask}.each { |verb| define_method(:"#{verb}_service") { systemctl(verb) } }
        def start_service = new_resource.start_command ? super : systemctl("start", default_env: false)
        def stop_service = new_resource.stop_command ? super : systemctl("stop", default_env: false)
        def restart_service = new_resource.restart_command ? super : systemctl("restart", default_env: false)
        def reload_service = new_resource.reload_command ? super : systemctl("reload", default_env: false)
      end

      # The ways of other systems, which cookbooks name; none of them is on Linux today.
      %i{Upstart Arch Gentoo Freebsd Openbsd Netbsd Solaris Aix AixInit Macosx Windows}.each do |n|
        const_set(n, Class.new(Init))
      end
    end
  end
end
