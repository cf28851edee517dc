# One run from configuration to exit code. Its node is made in client_node.rb, cookbooks are loaded in
# client_load.rb.
class Chef
  class Client
    attr_reader :node, :run_status, :events
    def self.fx_main(opts)
      return describe(opts["describe"]) if opts["describe"]
      new(opts).fx_run
    end
    def self.describe(items)
      Chef::Config[:local_mode] = true
      FX.write_collection("/dev/stdout", FX.json(Chef::FxDescribe.all(items)))
      0
    end
    def initialize(opts) = @opts = opts

    def fx_run
      @error = nil
      code = catch(:fx_exit) do
        begin
          configure
          @configured = true
          scheduled || locked { run }
          0
        rescue SystemExit => e
          failed(e)
          e.status
        rescue Exception => e
          failed(e)
          exit_code_of(e)
        end
      end
      FX.finish(@error && @error.class.name, @error && message_of(@error), code, @configured)
      code
    end

    # Runs in intervals are made one by one by whoever called us; true where they are wanted.
    def scheduled
      c = Chef::Config
      if c[:pid_file] && c[:lockfile] && ::File.expand_path(c[:pid_file]) == ::File.expand_path(c[:lockfile])
        raise "PID file and lockfile are not permitted to match. Specify a different location with --pid or --lockfile"
      end
      c[:interval] ||= 1800 if c[:daemonize]
      return false if c[:once] || c[:interval].nil? || !FX.schedules?
      if c[:client_fork] == false
        raise "Unforked Chef Infra Client interval runs are disabled by default.\nConfiguration settings:\n" \
          "  interval  = #{c[:interval]} seconds\nEnable Chef Infra Client interval runs by setting " \
          "`:client_fork = true` in your config file or adding `--fork` to your command line options."
      end
      FX.schedule(c[:interval].to_i, c[:splay].to_i, c[:daemonize], c[:pid_file] || "/tmp/Chef Infra Client.pid")
      true
    end

    # Runs of the client exclude each other; the lock ends with the process at the latest.
    def locked
      return yield unless @opts["run_lock"] && !@opts["collection"]
      lock = Chef::RunLock.new
      lock.acquire
      begin
        lock.save_pid
        yield
      ensure
        lock.release
      end
    end

    # Our parser leaves out the words every such message begins with.
    def message_of(e)
      return e.message if !e.is_a?(SyntaxError) || e.message.include?("syntax error")
      e.message.sub(/:(\d+): /, ':\1: syntax error, ')
    end

    def exit_code_of(e)
      case e
      when Chef::Exceptions::ConfigurationError then 43
      when Chef::Exceptions::Reboot then 35
      when Chef::Exceptions::RebootPending then 37
      when Chef::Exceptions::RebootFailed then 41
      else 1
      end
    end

    def failed(e)
      @error = e
      if @opts["collection"]
        if require("json") || true
          FX.write_collection(@opts["collection"],
            ::JSON.generate("error" => { "class" => e.class.name, "message" => e.message }))
        end
      end
      return if e.is_a?(SystemExit) && !@configured
      return FX.failure("Configuration error", e.message) unless @configured
      describe(e)
      if @run_status && !@opts["apply"]
        @run_status.exception = e
        @run_status.stop_clock
        run_handlers(:exception_handlers) do |handlers|
          Chef::Log.error("Running exception handlers")
          handlers.call
          Chef::Log.error("Exception handlers complete")
        end
      end
      FX.summary(true, nil)
      @events.run_failed(e, @run_status) if @events && @events.heard?
      dump(e)
      report_failure(e) unless e.is_a?(SystemExit)
    end

    def report_failure(e)
      shows_lines = @opts["findings"] || (@opts["explains"] && !@converging)
      return FX.failure(e.class.name, message_of(e), Chef::FxMissing.of(e)) unless shows_lines
      FX.load("chef/check.rb")
      help = Chef::FxCheck.help(e)
      FX.failure(e.class.name, message_of(e), Chef::FxMissing.of(e), Chef::FxCheck.place(e), help,
        Chef::FxCheck.missing?(e, help) ? "missing" : nil)
    end

    # Where loading failed, for people.
    def describe(e)
      return unless @loading && FX.doc?
      path = e.is_a?(Chef::Exceptions::RecipeNotFound) ? "" : " in #{@loading}"
      e.set_backtrace([e.message[/\A.+?:\d+/].to_s]) if e.is_a?(SyntaxError)
      FX.describe("Recipe Compile Error#{path}", Chef::FxFailures.file(e))
    end

    # The whole trace goes to a file.
    def dump(e)
      text = +"Generated at #{Time.now}\n#{e.class}: #{message_of(e)}\n#{(e.backtrace || []).join("\n")}\n"
      cause = e.cause
      while cause
        text << "\n\n>>>> Caused by #{cause.class}: #{cause.message}\n#{(cause.backtrace || []).join("\n")}"
        cause = cause.cause
      end
      # A trace quotes what recipes are made of.
      Chef::FileCache.store("chef-stacktrace.out", FX.masked(text), 0600)
      rule = "-" * 87
      Chef::Log.fatal("Stacktrace dumped to #{Chef::FileCache.path("chef-stacktrace.out")}")
      Chef::Log.fatal(rule)
      Chef::Log.fatal("PLEASE PROVIDE THE CONTENTS OF THE stacktrace.out FILE (above) IF YOU FILE A BUG REPORT")
      Chef::Log.fatal(rule)
    rescue SystemCallError
      nil
    end

    # Runs the handlers of a kind, and reports that.
    def run_handlers(kind)
      FX.handlers(nil)
      yield -> { Chef::Handler.run_all(kind, @run_status) and FX.handlers(true) }
    end

    def configure
      Chef::Config[:local_mode] = @opts["local"]
      Chef::Config[:solo] = @opts["solo"] || false
      if (path = @opts["config"] || (@opts["find_config"] && found_config))
        Chef::Config[:config_file] = path
        begin
          Chef::Config.from_file(path)
        rescue Errno::ENOENT
          raise Chef::Exceptions::ConfigurationError, "Cannot load configuration from #{path}"
        rescue Chef::Exceptions::ConfigurationError
          raise
        rescue SyntaxError, StandardError => e
          raise Chef::Exceptions::ConfigurationError,
            "Error while reading config file #{path}: #{e.class}: #{e.message}"
        end
      end
      if @opts["recipe_url"] || Chef::Config[:recipe_url]
        fetch_recipes(@opts["recipe_url"] || Chef::Config[:recipe_url])
      end
      (@opts["set"] || {}).each { |k, v| Chef::Config[k] = v }
      Chef::Config[:cookbook_path_given] = Chef::Config[:cookbook_path]
      Chef::Config[:chef_repo_path] = ::File.dirname(Array(@opts["cookbook_path"]).first) if @opts["cookbook_path"]
      Chef::Config[:cookbook_path] = @opts["cookbook_path"] if @opts["cookbook_path"]
      Chef::Config[:why_run] = true if @opts["why_run"]
      Chef::Config[:environment] = @opts["environment"] if @opts["environment"]
      Chef::Config[:node_name] = @opts["node_name"] if @opts["node_name"]
      Chef::Config[:chef_server_url] = @opts["server"] if @opts["server"]
      Chef::Config[:client_key] = @opts["client_key"] if @opts["client_key"]
      Chef::Config[:validation_key] = @opts["validation_key"] if @opts["validation_key"]
      Chef::Config[:log_level] = @opts["log_level"].to_sym if @opts["log_level"]
      Chef::Config[:log_location] = @opts["log_location"] if @opts["log_location"]
      Chef::Config[:lockfile] = @opts["lockfile"] if @opts["lockfile"]
      Chef::Config[:run_lock_timeout] = @opts["run_lock_timeout"].to_i if @opts["run_lock_timeout"]
      Chef::Log.level = Chef::Config[:log_level]
      loc = Chef::Config[:log_location]
      loc = loc.find { |l| l.is_a?(String) } if loc.is_a?(Array)
      open_log(loc) if loc.is_a?(String) && loc != "STDOUT" && loc != "STDERR"
      if (count = Chef::Config[:slow_report])
        Chef::Config[:report_handlers] << Chef::Handler::SlowReport.new(count)
      end
      formatter = @opts["formatter"] || Chef::Config[:formatters]&.first&.first || "doc"
      FX.formatter(formatter, Chef::Config[:why_run], @opts["apply"])
      Chef::Config[:cache_path] = "/var/chef" if @opts["apply"] && !Chef::Config.given?(:cache_path)
    end

    def open_log(path)
      FX.open_log(path)
    rescue SystemCallError => e
      Chef::Log.fatal("Failed to open or create log file at #{[path]}: #{e.class} (#{e.message})")
      Chef::Log.fatal("Aborting due to invalid 'log_location' configuration")
      exit 1
    end

    # Without `-c`: the workstation's file in `.chef` here or above, then in the home directory;
    # for chef-solo the machine's own.
    def found_config
      return FX.file?("/etc/chef/solo.rb") ? "/etc/chef/solo.rb" : nil if @opts["solo_config"]
      return client_config unless @opts["local"]
      dirs = []
      dir = FX.cwd
      until dirs.include?(dir)
        dirs << dir
        dir = ::File.dirname(dir)
      end
      dirs << ENV["HOME"] if ENV["HOME"]
      dirs.product(%w{config.rb knife.rb}).map { |d, f| "#{d}/.chef/#{f}" }.find { |f| FX.file?(f) || others_link?(f) }
    end

    # Against a server: the machine's own configuration.
    def client_config
      path = "#{Chef::Config[:config_dir]}/client.rb"
      return path if FX.file?(path)
      Chef::Log.warn("Did not find config file: #{path}. Using command line options instead.")
      nil
    end

    # A link that is not followed is not passed over either: reading it says why.
    def others_link?(path) = ::File.symlink?(path) && ::File.lstat(path).uid != Process.euid

    # `--recipe-url`: an archive of cookbooks, unpacked where the cookbooks are looked for.
    def fetch_recipes(url)
      unless Chef::Config[:local_mode]
        raise Chef::Exceptions::ConfigurationError, "recipe_url can be used only in solo or local mode"
      end
      require "fileutils"
      dir = Array(Chef::Config[:chef_repo_path]).first
      FX.own_state { unpack_recipes(url, dir) }
    end

    def unpack_recipes(url, dir)
      FileUtils.rm_rf(dir, secure: true) if @opts["delete_repo"]
      FileUtils.mkdir_p(dir)
      archive = "#{dir}/recipes.tgz"
      if ::File.exist?(url)
        FileUtils.cp(url, archive)
      elsif url.start_with?("http://", "https://")
        require "net/http"
        response = Net::HTTP.get_response(URI(url))
        raise Chef::Exceptions::ConfigurationError, "recipe_url #{url}: #{response.code}" unless response.code == "200"
        ::File.binwrite(archive, response.body)
      else
        raise Chef::Exceptions::ConfigurationError,
          "You cannot use --recipe-url with a scheme other than http, https or a local file: #{url}"
      end
      FX.settle
      Mixlib::ShellOut.new("tar", "zxf", archive, "-C", dir).run_command.error!
    end

    def run
      @events = Chef::EventDispatch::Dispatcher.new(Array(Chef::Config[:event_handlers]))
      @events.register(Chef::FxReporter.new) if Chef::Config.given?(:data_collector) && !Chef::FxReporter.files.empty?
      FX.phase("load")
      FX.run_start(Chef::VERSION)
      Chef::Log.info("*** Chef Infra Client #{Chef::VERSION} ***")
      Chef::Log.info("Platform: #{RUBY_PLATFORM}")
      Chef::Log.info("Chef-client pid: #{Process.pid}") if Chef::Log.info?
      @events.run_start(Chef::VERSION) if @events.heard?
      @run_status = Chef::RunStatus.new(nil, @events)
      @run_status.run_id = Chef::RequestID.instance.request_id
      name_node
      register unless Chef::Config[:local_mode]
      build_node
      @run_status.node = @node
      @run_status.start_clock
      expand
      Chef::Log.info("Starting Chef Infra Client Run for #{@node.name}")
      Chef::Log.info("Running start handlers")
      Chef::Handler.run_all(:start_handlers, @run_status)
      Chef::Log.info("Start handlers complete.")
      @events.run_started(@run_status) if @events.heard?
      Chef::FxServerReports.start(@run_status, @node, @events) unless Chef::Config[:local_mode]
      load_cookbooks
      compile
      load_required_recipe unless Chef::Config[:local_mode]
      if @opts["collection"]
        if @opts["findings"]
          FX.load("chef/check.rb")
          Chef::FxCheck.collection(@run_context)
        end
        FX.load("chef/dump.rb")
        FX.write_collection(@opts["collection"], Chef::FxDump.json(@run_context))
        return
      end
      converge
      @run_status.stop_clock
      save_node
      Chef::Log.info("Running report handlers")
      run_handlers(:report_handlers, &:call)
      Chef::Log.info("Report handlers complete")
      store.cleaned unless Chef::Config[:why_run]
      FX.summary(false, Chef.fx_deprecations)
      @events.run_completed(@node, @run_status) if @events.heard?
      reboot
    end

    # A client without a key introduces itself first.
    def register
      key = Chef::Config[:client_key]
      return if key.nil? || Chef::Config[:client_key_contents] || ::File.exist?(key)
      FX.registering(Chef::Config[:node_name])
      Chef::Log.info("Client key #{key} is not present - registering")
      Chef::FxRegistration.new(Chef::Config[:node_name], key).run
    rescue SystemExit
      raise
    rescue Exception => e
      Chef::FxInspectors.describe(:registration, e)
      raise
    end

    # A recipe that the server wants on every node; mostly there is none.
    def load_required_recipe
      text = store.api.get("required_recipe")
      Chef::Log.info("Required Recipe found, loading it")
      Chef::FileCache.store("required_recipe", text)
      Chef::Recipe.new(nil, nil, @run_context).from_file(Chef::FileCache.path("required_recipe"))
    rescue Net::HTTPServerException => e
      raise unless e.response && e.response.code == "404"
    end

    def reboot
      Chef::Platform::Rebooter.reboot_if_needed!(@node) if @run_context.reboot_requested?
    end

    def converge
      @converging = true
      FX.phase("converge")
      FX.converging(@run_context.resource_collection.all_resources.size, @loaded.to_i)
      @events.converge_start(@run_context) if @events.heard?
      begin
        Chef::Runner.new(@run_context).converge
      rescue Exception => e
        FX.converged(true)
        @events.converge_failed(e) if @events.heard?
        raise
      end
      FX.converged
      @events.converge_complete if @events.heard?
      FX.phase("cleanup")
    end
  end
end
FX.load("chef/client_node.rb")
FX.load("chef/client_load.rb")
