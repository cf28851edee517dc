# The node: attributes at ten levels, run list, tags, and who it is.
class Chef
  class Node
    autoload :AttrArray, "prelude:chef/attributes.rb"
    autoload :VividMash, "prelude:chef/attributes.rb"
    autoload :ImmutableMash, "prelude:chef/attributes.rb"
    autoload :ImmutableArray, "prelude:chef/attributes.rb"

    class Attribute
      LEVELS = %i{default env_default role_default force_default normal override role_override env_override
        force_override automatic}.freeze
      DEFAULTS = %i{default env_default role_default force_default}.freeze
      OVERRIDES = %i{override role_override env_override force_override}.freeze
      # Deprecated names other code reads.
      COMPONENTS = LEVELS.map { |l| :"@#{l}" }.freeze

      def initialize
        @stores = LEVELS.map { VividMash.new.__fx_bind(self, nil) }
        @cache = {}
      end

      def reset_cache(top)
        top ? @cache.delete(top) : @cache.clear
      end

      def level(name) = @stores[LEVELS.index(name)]
      def replace_level(name, hash)
        m = VividMash.new.__fx_bind(self, nil)
        @stores[LEVELS.index(name)] = m
        m.update(hash || {})
        @cache.clear
        m
      end

      def [](key)
        key = key.name if key.is_a?(Symbol)
        @cache.fetch(key) { @cache[key] = FX.merge(@stores, key) }
      end

      def key?(key)
        key = key.name if key.is_a?(Symbol)
        @stores.any? { |s| s.key?(key) }
      end

      def keys = @stores.flat_map(&:keys).uniq

      def merged
        m = FX.merge(@stores, nil)
        m
      end

      def combined(names, path)
        FX.merge_some(names.map { |n| level(n) }, path)
      end

      def debug_value(*path)
        %i{default env_default role_default force_default normal override role_override env_override force_override
          automatic}.map do |l|
          store = level(l)
          v = store.exist?(*path) ? store.read(*path) : :not_present
          [l.name, v.is_a?(Hash) ? v.to_hash : v]
        end
      end

      def inspect
        "#<#{self.class} " + LEVELS.map { |l| "@#{l}=#{level(l).inspect}" }.join(", ") + ">"
      end
      def to_s = merged.to_s
      LEVELS.each { |l| define_method(l) { level(l) } }
    end

    attr_accessor :run_context, :override_runlist, :policy_name, :policy_group, :chef_server_rest, :logger,
      :primary_runlist
    attr_reader :run_state, :recipe_list, :attributes

    include ChefUtils::FxLazy if defined?(ChefUtils::FxLazy)

    def initialize(*_)
      @name = nil
      @chef_environment = "_default"
      @run_state = {}
      @attributes = Attribute.new
      @run_list = nil
      @loaded = []
      @platform_version = nil
    end

    def node = self
    def name(arg = nil)
      return @name if arg.nil?
      @name = arg
    end
    def name=(arg)
      @name = arg
    end
    def chef_environment(arg = nil)
      return @chef_environment if arg.nil?
      @chef_environment = arg.to_s
    end
    def chef_environment=(arg)
      @chef_environment = arg.to_s
    end
    alias environment chef_environment
    def logger = Chef::Log.with_child
    def cookbook_collection = run_context.cookbook_collection
    def run_list(*args) = args.empty? ? (@run_list ||= Chef::RunList.new) : run_list.reset!(*args)
    def run_list=(list)
      @run_list = list.is_a?(Chef::RunList) ? list : Chef::RunList.new(*list)
    end

    def [](key) = @attributes[key]
    def []=(key, _value)
      raise Chef::Exceptions::ImmutableAttributeModification
    end
    def attribute = @attributes
    def construct_attributes = @attributes
    def key?(key) = @attributes.key?(key)
    alias attribute? key?
    alias has_key? key?
    alias include? key?
    alias member? key?
    def keys = @attributes.keys
    def read(*path)
      v = self[path[0]]
      path[1..].each do |k|
        return nil unless v.is_a?(Hash) || (v.is_a?(Array) && k.is_a?(Integer))
        v = v[k]
      end
      v
    end
    alias dig read
    def read!(*path)
      raise Chef::Exceptions::NoSuchAttribute, path.join(".") unless exist?(*path)
      read(*path)
    end
    def exist?(*path)
      return false unless key?(path[0])
      v = self[path[0]]
      path[1..].each do |k|
        return false unless v.is_a?(Hash) ? v.key?(k) : v.is_a?(Array) && k.is_a?(Integer) && k < v.size
        v = v[k]
      end
      true
    end
    def fetch(key, *default)
      return self[key] if key?(key)
      return default[0] unless default.empty?
      return yield(key) if block_given?
      raise KeyError, "key not found: #{key.inspect}"
    end

    { default: :default, normal: :normal, override: :override, force_default: :force_default,
      force_override: :force_override,
      role_default: :role_default, role_override: :role_override, env_default: :env_default,
      env_override: :env_override,
      automatic: :automatic }.each do |name, level|
      define_method(name) { @attributes.level(level) }
      define_method(:"#{name}=") { |hash| @attributes.replace_level(level, hash) }
      define_method(:"#{name}_attrs") { @attributes.level(level) } unless %i{force_default
        force_override}.include?(name)
      define_method(:"#{name}_attrs=") { |hash| @attributes.replace_level(level, hash) }
    end
    alias automatic_attrs automatic
    alias normal_attrs normal
    def set
      raise NoMethodError, "undefined method `set' for node[#{name}]:Chef::Node"
    end
    undef set

    class Unless
      def initialize(store, view) = (@store, @view = store, view)
      def [](key)
        v = @view.is_a?(Hash) ? @view[key] : nil
        Unless.new(@store[key], v)
      end
      def []=(key, value)
        @store[key] = value if !@store.key?(key) || @store[key].nil?
      end
    end
    def default_unless = Unless.new(default, nil)
    def normal_unless = Unless.new(normal, nil)
    def override_unless = Unless.new(override, nil)
    alias set_unless normal_unless

    # Writes through this replace what stands at the path.
    class Bang
      def initialize(store, lower) = (@store, @lower = store, lower)
      def [](key)
        lower = @lower.map { |l| l.is_a?(Hash) && l.key?(key) ? l[key] : nil }.compact
        Bang.new(@store[key], lower)
      end
      def []=(key, value)
        @lower.each { |l| l.delete(key) if l.is_a?(Hash) }
        @store[key] = value
      end
    end
    def default! = Bang.new(default, [])
    def normal! = Bang.new(normal, [])
    def override! = Bang.new(override, [])
    def force_default! = Bang.new(force_default, [default, role_default, env_default])
    def force_override! = Bang.new(force_override, [override, role_override, env_override])

    def rm_levels(levels, path)
      view = @attributes.combined(levels, path)
      levels.each { |l| @attributes.level(l).unlink(*path) }
      view.is_a?(Hash) || view.is_a?(Array) ? Immutable.plain(view) : view
    end
    def rm_default(*path) = rm_levels(Attribute::DEFAULTS, path)
    def rm_normal(*path) = rm_levels([:normal], path)
    def rm_override(*path) = rm_levels(Attribute::OVERRIDES, path)
    def rm(*path)
      v = read(*path)
      (Attribute::LEVELS - [:automatic]).each { |l| @attributes.level(l).unlink(*path) }
      v.is_a?(Hash) || v.is_a?(Array) ? Immutable.plain(v) : v
    end
    def write(level, *args) = @attributes.level(level).write(*args)
    def write!(level, *args) = @attributes.level(level).write!(*args)
    def unlink(level, *args) = @attributes.level(level).unlink(*args)
    def unlink!(level, *args) = @attributes.level(level).unlink!(*args)
    def debug_value(*path) = @attributes.debug_value(*path)
    def combined_default(*path) = @attributes.combined(Attribute::DEFAULTS, path)
    def combined_override(*path) = @attributes.combined(Attribute::OVERRIDES, path)
    def merged_attributes(*path) = path.empty? ? @attributes.merged : read(*path)

    def each(&block) = @attributes.merged.each(&block)
    def each_attribute(&block) = each(&block)
    def map(&block) = @attributes.merged.map(&block)
    def to_h = @attributes.merged.to_h
    alias to_hash to_h
    def select(&b) = to_h.select(&b)
    def keys_list = keys
    def to_a = to_h.to_a
    include Enumerable

    def self.from_hash(h)
      n = new
      n.name(h["name"])
      n.chef_environment(h["chef_environment"]) if h["chef_environment"]
      %w{default normal override automatic}.each { |level| n.send(:"#{level}=", h[level] || {}) }
      n.run_list = Chef::RunList.new(*(h["run_list"] || []))
      n.policy_name = h["policy_name"]
      n.policy_group = h["policy_group"]
      n
    end
    def self.load(name)
      found = Chef::FxStore.current.node(name)
      found ? from_hash(found) : Chef::FxMissing.raise('404 "Not Found"', "there is no node #{name}")
    end
    def self.list(*) = Chef::FxStore.current.search("node", "*:*", 0, nil, nil)["rows"].to_h { |n| [n.name, n] }

    def as_json(*_)
      { "name" => name, "chef_environment" => chef_environment, "normal" => normal.to_hash, "chef_type" => "node",
        "default" => combined_default.to_h,
        "override" => combined_override.to_h, "automatic" => automatic.to_hash,
        "run_list" => (primary_runlist || run_list).map(&:to_s) }
        .merge({ "policy_name" => policy_name, "policy_group" => policy_group }.compact)
    end
    alias for_json as_json
    def to_json(*a) = as_json.to_json(*a)

    def tags
      normal["tags"] = [] unless normal.key?("tags") && normal["tags"].is_a?(Array)
      normal["tags"]
    end
    def untag(*tags_out)
      tags_out.each { |t| tags.delete(t.to_s) }
      tags
    end
    def tag(*tags_in)
      tags_in.each { |t| tags << t.to_s unless tags.include?(t.to_s) }
      tags
    end

    def run_list?(item) = run_list.any? { |r| r == item }
    def recipe?(name) = run_list.include?(name) || Array(self["recipes"]).include?(name)
    def role?(name) = run_list.include?("role[#{name}]") || Array(self["roles"]).include?(name)
    def loaded_recipe(cookbook, recipe)
      fq = "#{cookbook}::#{recipe}"
      list = automatic["recipes"]
      unless list.is_a?(Array)
        automatic["recipes"] = []
        list = automatic["recipes"]
      end
      list << fq unless list.include?(fq)
    end
    def apply_expansion_attributes(expansion)
      env = Chef::Environment.load(chef_environment)
      self.env_default = env.default_attributes
      self.env_override = env.override_attributes
      self.role_default = expansion.default_attrs
      self.role_override = expansion.override_attrs
    end

    def from_file(path)
      FX.eval_file(path, self)
    end
    def include_attribute(*names)
      names.flatten.each do |name|
        cookbook, file = name.to_s.split("::", 2)
        if cookbook.nil? || cookbook.empty?
          cookbook = @fx_cookbook
        end
        @run_context.load_attribute(cookbook, file || "default")
      end
    end
    attr_accessor :fx_cookbook

    def save
      Chef::FxStore.current.save_node(self)
      self
    end
    def expand!(_source = nil)
      e = run_list.expand(chef_environment)
      e
    end
    def to_s = "node[#{name}]"
    def inspect = "#<Chef::Node #{name}>"
    def display_hash = as_json
    def ==(other) = other.is_a?(Chef::Node) && other.name == name
    def respond_to_missing?(name, priv = false)
      ChefUtils::DSL::Platform
      self.class.method_defined?(name)
    end

    # The platform helpers are read when the first of them is called.
    def method_missing(name, *args, &block)
      unless @fx_helpers
        @fx_helpers = true
        ChefUtils::DSL::Platform
        self.class.include(ChefUtils, Chef::DSL::PlatformIntrospection)
        return send(name, *args, &block) if self.class.method_defined?(name) || self.class.private_method_defined?(name)
      end
      raise NoMethodError.new("undefined method `#{name}' for #{@attributes.inspect}", name)
    end
  end
end
