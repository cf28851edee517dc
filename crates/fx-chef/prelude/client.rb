# One run from configuration to exit code.
class Chef
  class Client
    attr_reader :node, :run_status, :events
    def self.fx_main(opts)
      new(opts).fx_run
    end
    def initialize(opts) = @opts = opts

    def fx_run
      @error = nil
      code = catch(:fx_exit) do
        begin
          configure
          @configured = true
          locked { run }
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
        FX.write_collection(@opts["collection"], ::JSON.generate("error" => { "class" => e.class.name, "message" => e.message })) if require("json") || true
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
      FX.failure(e.class.name, message_of(e)) unless e.is_a?(SystemExit)
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

    # Runs the handlers of a kind, and tells that.
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
          raise Chef::Exceptions::ConfigurationError, "Error while reading config file #{path}: #{e.class}: #{e.message}"
        end
      end
      fetch_recipes(@opts["recipe_url"] || Chef::Config[:recipe_url]) if @opts["recipe_url"] || Chef::Config[:recipe_url]
      (@opts["set"] || {}).each { |k, v| Chef::Config[k] = v }
      Chef::Config[:cookbook_path_given] = Chef::Config[:cookbook_path]
      Chef::Config[:chef_repo_path] = ::File.dirname(Array(@opts["cookbook_path"]).first) if @opts["cookbook_path"]
      Chef::Config[:cookbook_path] = @opts["cookbook_path"] if @opts["cookbook_path"]
      Chef::Config[:why_run] = true if @opts["why_run"]
      Chef::Config[:environment] = @opts["environment"] if @opts["environment"]
      Chef::Config[:node_name] = @opts["node_name"] if @opts["node_name"]
      Chef::Config[:log_level] = @opts["log_level"].to_sym if @opts["log_level"]
      Chef::Config[:log_location] = @opts["log_location"] if @opts["log_location"]
      Chef::Config[:lockfile] = @opts["lockfile"] if @opts["lockfile"]
      Chef::Config[:run_lock_timeout] = @opts["run_lock_timeout"].to_i if @opts["run_lock_timeout"]
      Chef::Log.level = Chef::Config[:log_level]
      loc = Chef::Config[:log_location]
      loc = loc.find { |l| l.is_a?(String) } if loc.is_a?(Array)
      FX.open_log(loc) if loc.is_a?(String) && loc != "STDOUT" && loc != "STDERR"
      formatter = @opts["formatter"] || Chef::Config[:formatters]&.first&.first || "doc"
      FX.formatter(formatter, Chef::Config[:why_run], @opts["apply"])
      Chef::Config[:cache_path] = "/var/chef" if @opts["apply"] && !Chef::Config.given?(:cache_path)
    end

    # Without `-c`: the workstation's file in `.chef` here or above, then in the home directory;
    # for chef-solo the machine's own.
    def found_config
      return FX.file?("/etc/chef/solo.rb") ? "/etc/chef/solo.rb" : nil if @opts["solo_config"]
      dirs = []
      dir = FX.cwd
      until dirs.include?(dir)
        dirs << dir
        dir = ::File.dirname(dir)
      end
      dirs << ENV["HOME"] if ENV["HOME"]
      dirs.product(%w{config.rb knife.rb}).map { |d, f| "#{d}/.chef/#{f}" }.find { |f| FX.file?(f) || others_link?(f) }
    end

    # A link that is not followed is not passed over either: reading it says why.
    def others_link?(path) = ::File.symlink?(path) && ::File.lstat(path).uid != Process.euid

    # `--recipe-url`: an archive of cookbooks, unpacked where the cookbooks are looked for.
    def fetch_recipes(url)
      raise Chef::Exceptions::ConfigurationError, "recipe_url can be used only in solo or local mode" unless Chef::Config[:local_mode]
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
        raise Chef::Exceptions::ConfigurationError, "You cannot use --recipe-url with a scheme other than http, https or a local file: #{url}"
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
      build_node
      @run_status = Chef::RunStatus.new(@node, @events)
      @run_status.run_id = FX.uuid
      @run_status.start_clock
      expand
      Chef::Log.info("Starting Chef Infra Client Run for #{@node.name}")
      Chef::Log.info("Running start handlers")
      Chef::Handler.run_all(:start_handlers, @run_status)
      Chef::Log.info("Start handlers complete.")
      @events.run_started(@run_status) if @events.heard?
      load_cookbooks
      compile
      if @opts["collection"]
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
      FX.summary(false, Chef.fx_deprecations)
      @events.run_completed(@node, @run_status) if @events.heard?
      reboot
    end

    def reboot
      Chef::Platform::Rebooter.reboot_if_needed!(@node) if @run_context.reboot_requested?
    end

    # The machine's facts, with the optional plug-ins that the configuration asks for.
    def self.fx_automatic = FX.ohai(Array(Chef::Config[:ohai][:optional_plugins]).join(" "))

    def build_node
      @node = Chef::Node.new
      automatic = self.class.fx_automatic
      @node.name(Chef::Config[:node_name] || automatic["fqdn"] || automatic["hostname"] || "localhost")
      @node.chef_environment(Chef::Config[:environment] || "_default")
      attrs = @opts["json"] ? read_json(@opts["json"]) : {}
      stored = load_stored
      note_node
      @node.normal = stored
      @node.automatic = automatic
      run_list = attrs.delete("run_list")
      attrs.delete("recipes").then { |r| run_list ||= r }
      env = attrs.delete("chef_environment")
      @node.chef_environment(env) if env && !@opts["environment"]
      if policy_wanted?(attrs)
        Chef::Config[:named_run_list] = @opts["named_run_list"] if @opts["named_run_list"]
        @policy = Chef::PolicyBuilder::Policyfile.new(attrs.merge("run_list" => run_list).compact, @opts["run_list"])
      end
      attrs.delete("policy_name")
      attrs.delete("policy_group")
      attrs.each { |k, v| deep_into(@node.normal, k, v) }
      list = @opts["run_list"] || run_list || []
      @primary = Chef::RunList.new(*(run_list || []))
      @node.run_list = Chef::RunList.new(*list)
      @node.normal["tags"] = [] unless @node.normal.key?("tags")
    end

    def deep_into(store, key, value)
      if value.is_a?(Hash) && store.key?(key) && store[key].is_a?(Hash)
        value.each { |k, v| deep_into(store[key], k, v) }
      else
        store[key] = value
      end
    end

    def read_json(path)
      text = FX.read(path)
      raise Chef::Exceptions::ConfigurationError, "Cannot load configuration from #{path}" unless text
      Chef::JSONCompat.parse(text)
    end

    def node_file = "#{Chef::Config[:node_path] || Chef::Config.path_under("nodes")}/#{@node.name}.json"
    def load_stored
      return {} unless Chef::Config[:local_mode] && FX.file?(node_file)
      (Chef::JSONCompat.parse(FX.read(node_file)) || {})["normal"] || {}
    rescue Chef::Exceptions::ConfigurationError
      raise
    rescue StandardError
      {}
    end
    # Cookbooks are read in place, but recipes keep what they fetch where the original has its
    # copies.
    def keep_room
      return if Chef::Config[:why_run] || ::File.directory?(Chef::Config[:file_cache_path])
      require "fileutils"
      FX.own_state { FileUtils.mkdir_p(Chef::Config[:file_cache_path]) }
    rescue SystemCallError
      nil
    end
    # The store knows a node from its first moment.
    def note_node
      return if !Chef::Config[:local_mode] || @opts["no_save"] || FX.file?(node_file) || !::File.directory?(Array(Chef::Config[:chef_repo_path]).first.to_s)
      require "fileutils"
      FX.own_state do
        FileUtils.mkdir_p(::File.dirname(node_file))
        ::File.write(node_file, "{\n  \"name\": #{@node.name.inspect}\n}\n", perm: 0600)
      end
    rescue SystemCallError
      nil
    end
    def save_node
      return if !Chef::Config[:local_mode] || @opts["no_save"]
      return Chef::Log.warn("In why-run mode, so NOT performing node save.") if Chef::Config[:why_run]
      return Chef::Log.warn("Skipping final node save because override_runlist was given") if @opts["override"]
      return unless ::File.directory?(Array(Chef::Config[:chef_repo_path]).first.to_s)
      node = { "name" => @node.name, "chef_environment" => @node.chef_environment == "_default" ? nil : @node.chef_environment, "override" => @node.combined_override.to_hash,
               "normal" => @node.normal.to_hash, "default" => @node.combined_default.to_hash, "automatic" => @node.automatic.to_hash, "run_list" => @node.run_list.map(&:to_s) }
      FX.save_node(node_file, node.reject { |_, v| v.nil? || v.empty? })
    end

    def policy_wanted?(attrs)
      c = Chef::Config
      c[:use_policyfile] || c[:policy_name] || c[:named_run_list] || @opts["named_run_list"] || attrs["policy_name"] || attrs["policy_group"]
    end

    # What a policy fixes takes the place of roles and environments.
    def expand_policy
      @policy.apply(@node)
      @expansion = Chef::RunList.new(*@policy.run_list).expand("_default")
      @environment = Chef::Environment.new
    end

    def expand
      return expand_policy if @policy
      if @opts["override"]
        Chef::Log.warn("Run List override has been provided.")
        Chef::Log.warn("Original Run List: [#{@primary}]")
        Chef::Log.warn("Overridden Run List: [#{@node.run_list}]")
      end
      @expansion = @node.run_list.expand(@node.chef_environment)
      unless @expansion.errors.empty?
        Chef::FxFailures.node = @node
        FX.describe("Error expanding the run_list:", Chef::FxFailures.roles(@expansion, @node)) if FX.doc?
        raise Chef::Exceptions::MissingRole, @expansion
      end
      @environment = Chef::Environment.load(@node.chef_environment)
      @node.env_default = @environment.default_attributes
      @node.env_override = @environment.override_attributes
      @node.role_default = @expansion.default_attrs
      @node.role_override = @expansion.override_attrs
      # A recipe called default goes by both of its names.
      @node.automatic["recipes"] = @expansion.recipes.flat_map { |r| r.end_with?("::default") ? [r.delete_suffix("::default"), r] : r.include?("::") ? [r] : [r, "#{r}::default"] }
      @node.automatic["expanded_run_list"] = @expansion.recipes.map { |r| r.include?("::") ? r : "#{r}::default" }
      @node.automatic["roles"] = @expansion.roles
      @node.automatic["chef_environment"] = @node.chef_environment
      Chef::Log.info("Run List is [#{@node.run_list}]")
      Chef::Log.info("Run List expands to [#{@expansion.recipes.join(", ")}]")
    end

    def load_cookbooks
      FX.resolving(@expansion.recipes)
      loader = Chef::CookbookLoader.new(Chef::Config[:cookbook_path])
      books = {}
      versions = @environment.cookbook_versions
      if @policy
        books = @policy.cookbooks(loader)
      else
        @expansion.recipes_with_version_constraints.each do |r, v|
          add_cookbook(loader, r.split("::", 2)[0], v && "= #{v}", versions, books, [])
        end
      end
      @cookbooks = Chef::CookbookCollection.new(books)
      @books = books
      books.each_value { |b| b.metadata.validate_chef_version! }
      Chef::Log.info("Loading cookbooks [#{books.values.map { |b| "#{b.name}@#{b.version}" }.join(", ")}]")
      books.each_value do |b|
        next if b.metadata.gems.empty? || Chef::Config[:skip_gem_metadata_installation]
        Chef::Log.warn("cookbook #{b.name} asks for #{b.metadata.gems.map { |g| "gem #{g.join(" ")}" }.join(", ")}: gems are not installed, there is no other Ruby here")
      end
      FX.synchronizing(books.values.map { |b| [b.name, b.version] })
      keep_room
      @run_context = Chef::RunContext.new(@node, @cookbooks, @events)
      @run_status.run_context = @run_context
      Chef.set_run_context(@run_context)
      @node.automatic["cookbooks"] = books.to_h { |n, b| [n, { "version" => b.version }] }
    end

    # The closure of a cookbook's dependencies, each checked against its constraint.
    def add_cookbook(loader, name, constraint, pins, books, path)
      book = loader[name]
      ok = book && [constraint, pins[name]].compact.all? { |c| Chef::VersionConstraint.new(c).include?(book.version) }
      unless ok
        Chef::Exceptions
        absent = book ? [] : [name]
        unmet = book ? ["#{name} #{constraint || pins[name]}"] : []
        Chef::FxFailures.node = @node
        FX.describe("Error Resolving Cookbooks for Run List:", Chef::FxFailures.cookbooks(@expansion.recipes, absent, unmet, "")) if FX.doc?
        raise Net::HTTPServerException, '412 "Precondition Failed"'
      end
      return if books.key?(name)
      books[name] = book
      raise Chef::Exceptions::UnmetDependency, "dependency cycle" if path.size > 500
      book.metadata.dependencies.each { |dep, c| add_cookbook(loader, dep, c, pins, books, path + [name]) }
    end

    # For each cookbook of the run list: what it needs, by name and depth first, then itself.
    def cookbook_order
      @cookbook_order ||= begin
        order, seen = [], {}
        visit = lambda do |name|
          next if seen[name]
          seen[name] = true
          @books[name].metadata.dependencies.keys.sort.each { |d| visit.call(d) if @books[d] }
          order << @books[name]
        end
        @expansion.recipes.each { |r| visit.call(r.split("::", 2)[0]) }
        # A policy's cookbooks are all loaded, also those nothing in the run list needs.
        @books.keys.sort.each { |n| visit.call(n) } if @policy
        order
      end
    end

    def compile
      FX.compiling
      FX.phase("load")
      books = cookbook_order
      books.each do |b|
        eager = b.metadata.eager_load_libraries
        b.libraries.each do |f|
          next $LOAD_PATH.unshift(::File.dirname(f)) if eager == false
          next if eager.is_a?(String) && !::File.fnmatch(eager, f.delete_prefix("#{b.root}/libraries/"))
          loading(f) { load_library(f) }
        end
        $LOAD_PATH.unshift("#{b.root}/libraries") unless b.libraries.empty?
      end
      load_plugins(books)
      FX.compliance
      books.each { |b| b.attribute_filenames_by_short_filename.each { |n, f| loading(f) { @run_context.load_attribute(b.name, n) } } }
      books.each do |b|
        b.segment("providers").each { |f| loading(f) { Chef::Provider::LWRPBase.build_from_file(b.name, f, @run_context) } unless ::File.basename(f).start_with?("_") }
        b.segment("resources").each { |f| loading(f) { load_resource(b, f) } }
      end
      books.each { |b| b.segment("definitions").each { |f| loading(f) { DefinitionFile.new(@run_context).from_file(f) } } }
      FX.phase("compile")
      @expansion.recipes.each do |r|
        cookbook, recipe = Chef::Recipe.parse_recipe_name(r)
        loading(@books[cookbook]&.fx_recipe_file(recipe)) { @run_context.load_recipe(r) }
      end
      if (text = @opts["recipe_text"])
        recipe = Chef::Recipe.new("(chef-apply cookbook)", "(chef-apply recipe)", @run_context)
        recipe.instance_eval(text, "(chef-apply)", 1)
      end
      Array(@opts["recipe_files"]).each do |f|
        next @run_context.load_recipe_file(::File.expand_path(f)) unless @opts["apply"]
        Chef::Recipe.new("(chef-apply cookbook)", "(chef-apply recipe)", @run_context).from_file(::File.expand_path(f))
      end
    end

    # The file that is being loaded is where a failure is said to be.
    def loading(path)
      @loading = path.to_s
      yield
      @loading = nil
      @loaded = @loaded.to_i + 1
    end

    # Ohai plug-ins of cookbooks, between libraries and attributes.
    def load_plugins(books)
      files = books.flat_map { |b| b.segment("ohai", deep: true) }
      dirs = Array(Chef::Config.given?(:ohai) || Chef::Config[:ohai_segment_plugin_path] ? Chef::Config[:ohai][:plugin_path] : nil)
      dirs.each { |d| files += ::Dir["#{d}/**/*.rb"].sort if d.is_a?(String) && ::File.directory?(d) }
      return if files.empty?
      Client.fx_plugins = true
      files.each { |f| ::Ohai.load_file(f) }
      ::Ohai.run
    end
    class << self
      attr_writer :fx_plugins
      def fx_plugins? = @fx_plugins || false
    end

    def load_library(path)
      Kernel.require(path)
    end

    def load_resource(book, path)
      return if ::File.basename(path).start_with?("_")
      Chef::Resource::LWRPBase.build_from_file(book.name, path, @run_context)
    end

    def converge
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

    class DefinitionFile
      def initialize(run_context) = @run_context = run_context
      def from_file(path) = FX.eval_file(path, self)
      def define(name, params = {}, &block)
        d = Chef::ResourceDefinition.new
        d.define(name, params, &block)
        @run_context.definitions[name] = d
      end
    end
  end
end
