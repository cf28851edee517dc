# The node of a run: its facts, what is stored of it, and its expanded run list.
class Chef
  class Client
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
    rescue Chef::Exceptions::JSON::ParseError => e
      raise e.class, "#{node_file}: #{e.message}"
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
      if !Chef::Config[:local_mode] || @opts["no_save"] || FX.file?(node_file) ||
        !::File.directory?(Array(Chef::Config[:chef_repo_path]).first.to_s)
        return
      end
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
      node = { "name" => @node.name,
        "chef_environment" => @node.chef_environment == "_default" ? nil : @node.chef_environment,
        "override" => @node.combined_override.to_hash,
               "normal" => @node.normal.to_hash, "default" => @node.combined_default.to_hash,
               "automatic" => @node.automatic.to_hash, "run_list" => @node.run_list.map(&:to_s) }
      FX.save_node(node_file, node.reject { |_, v| v.nil? || v.empty? })
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
