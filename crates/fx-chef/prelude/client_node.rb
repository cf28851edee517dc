# The node of a run: its facts, what is stored of it, and its expanded run list.
class Chef
  class Client
    # The node of this run, once its run list is known.
    class << self
      attr_accessor :fx_node
    end

    # The machine's facts, with the optional plug-ins that the configuration asks for.
    def self.fx_automatic(minimal = false)
      FX.ohai(Array(Chef::Config[:ohai][:optional_plugins]).join(" "), minimal)
    end

    # A name is all that registration needs to know of the node.
    def name_node
      @automatic = self.class.fx_automatic(Chef::Config[:minimal_ohai])
      name = Chef::Config[:node_name] || @automatic["fqdn"] || @automatic["machinename"] || @automatic["hostname"]
      raise Chef::Exceptions::CannotDetermineNodeName if name.nil? && !Chef::Config[:local_mode]
      Chef::Config[:node_name] = name || "localhost"
    end

    def build_node
      @node = Chef::Node.new
      @node.name(Chef::Config[:node_name])
      @node.chef_environment(Chef::Config[:environment] || "_default")
      attrs = @opts["json"] ? read_json(@opts["json"]) : {}
      stored = load_node
      @node.normal = stored["normal"] || {}
      @node.automatic = @automatic
      know_node unless Chef::Config[:local_mode]
      run_list = attrs.delete("run_list")
      attrs.delete("recipes").then { |r| run_list ||= r }
      choose_environment(stored, attrs.delete("chef_environment"))
      choose_policy(attrs, stored, run_list)
      attrs.each { |k, v| deep_into(@node.normal, k, v) }
      replaced = @opts["override"] ? nil : @opts["run_list"]
      @primary = Chef::RunList.new(*(replaced || run_list || stored["run_list"] || []))
      @node.primary_runlist = @primary
      @node.run_list = @opts["override"] ? Chef::RunList.new(*@opts["run_list"]) : @primary
      @node.normal["tags"] = [] unless @node.normal.key?("tags")
    end

    # What others find the node by on the server.
    def know_node
      @node.automatic["name"] = @node.name
      @node.automatic["chef_guid"] = Chef::Config[:chef_guid] ||= guid
    end
    # A name for the machine that stays when its node is called otherwise.
    def guid
      path = Chef::Config[:chef_guid_path]
      kept = FX.file?(path) ? FX.read(path).to_s.strip : ""
      return kept unless kept.empty?
      fresh = FX.uuid
      unless Chef::Config[:why_run]
        require "fileutils"
        FX.own_state do
          FileUtils.mkdir_p(::File.dirname(path))
          FX.store(path, fresh, 0644)
        end
      end
      fresh
    end

    # What the store has of the node; a new one is made known to it at once.
    def load_node
      store.keeps_nodes = !@opts["no_save"]
      stored = store.node(@node.name)
      store.create_node(@node) unless stored || @opts["no_save"]
      stored || {}
    rescue SystemExit
      raise
    rescue Exception => e
      Chef::FxInspectors.describe(:node, e) unless Chef::Config[:local_mode]
      raise
    end
    def store = Chef::FxStore.current

    # Attributes of the command line win over the configuration, and that over the store.
    def choose_environment(stored, given)
      given = nil if Chef::Config[:local_mode] && @opts["environment"]
      env = given || Chef::Config[:environment] || stored["chef_environment"]
      @node.chef_environment(env) if env
    end

    def choose_policy(attrs, stored, run_list)
      name, group = attrs.delete("policy_name"), attrs.delete("policy_group")
      unless Chef::Config[:local_mode] || Chef::Config[:policy_name] || Chef::Config[:environment]
        name ||= stored["policy_name"]
        group ||= stored["policy_group"]
      end
      given = { "policy_name" => name, "policy_group" => group, "run_list" => run_list }.compact
      return unless policy_wanted?(given)
      Chef::Config[:named_run_list] = @opts["named_run_list"] if @opts["named_run_list"]
      @policy = Chef::PolicyBuilder::Policyfile.new(given, @opts["run_list"])
      FX.policy_loaded(@policy.lock["name"], @policy.lock["revision_id"]) unless Chef::Config[:local_mode]
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

    # Local cookbooks are read in place, but recipes keep what they fetch where the original has its
    # copies.
    def keep_room
      return if Chef::Config[:why_run] || ::File.directory?(Chef::Config[:file_cache_path])
      require "fileutils"
      FX.own_state { FileUtils.mkdir_p(Chef::Config[:file_cache_path]) }
    rescue SystemCallError
      nil
    end
    def save_node
      return if @opts["no_save"]
      return Chef::Log.warn("In why-run mode, so NOT performing node save.") if Chef::Config[:why_run]
      return Chef::Log.warn("Skipping final node save because override_runlist was given") if @opts["override"]
      store.save_node(@node)
    end

    def policy_wanted?(attrs)
      c = Chef::Config
      c[:use_policyfile] || c[:policy_name] || c[:named_run_list] || @opts["named_run_list"] || attrs["policy_name"] ||
        attrs["policy_group"]
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
        Client.fx_node = @node
        FX.describe("Error expanding the run_list:", Chef::FxFailures.roles(@expansion, @node)) if FX.doc?
        raise Chef::Exceptions::MissingRole, @expansion
      end
      @environment = Chef::Environment.load(@node.chef_environment)
      apply_expansion
    rescue SystemExit
      raise
    rescue Exception => e
      Chef::FxInspectors.describe(:expand, e) unless Chef::Config[:local_mode]
      raise
    end

    def apply_expansion
      @node.env_default = @environment.default_attributes
      @node.env_override = @environment.override_attributes
      @node.role_default = @expansion.default_attrs
      @node.role_override = @expansion.override_attrs
      # A recipe called default goes by both of its names.
      @node.automatic["recipes"] = @expansion.recipes.flat_map do |r|
        r.end_with?("::default") ? [r.delete_suffix("::default"), r] : r.include?("::") ? [r] : [r, "#{r}::default"]
      end
      @node.automatic["expanded_run_list"] = @expansion.recipes.map { |r| r.include?("::") ? r : "#{r}::default" }
      @node.automatic["roles"] = @expansion.roles
      @node.automatic["chef_environment"] = @node.chef_environment
      Chef::Log.info("Run List is [#{@node.run_list}]")
      Chef::Log.info("Run List expands to [#{@expansion.recipes.join(", ")}]")
    end
  end
end
