# Roles and environments.
class Chef
  class Role
    attr_accessor :env_run_lists
    def initialize
      @name, @description = "", ""
      @default_attributes, @override_attributes = ChefUtils::Mash.new, ChefUtils::Mash.new
      @env_run_lists = { "_default" => Chef::RunList.new }
    end
    def name(v = nil) = v.nil? ? @name : @name = v
    def description(v = nil) = v.nil? ? @description : @description = v
    def default_attributes(v = nil) = v.nil? ? @default_attributes : @default_attributes = ChefUtils::Mash.new(v)
    def override_attributes(v = nil) = v.nil? ? @override_attributes : @override_attributes = ChefUtils::Mash.new(v)
    def run_list(*args)
      args.empty? ? @env_run_lists["_default"] : @env_run_lists["_default"] = Chef::RunList.new(*args)
    end
    alias recipes run_list
    def env_run_lists(lists = nil)
      lists&.each { |k, v| @env_run_lists[k] = Chef::RunList.new(*v) }
      @env_run_lists
    end
    alias env_run_list env_run_lists
    def run_list_for(env) = @env_run_lists[env] || @env_run_lists["_default"]
    def to_s = "role[#{@name}]"
    def to_hash
      {
        "name" => @name, "default_attributes" => @default_attributes.to_hash,
        "override_attributes" => @override_attributes.to_hash, "run_list" => run_list.map(&:to_s), "chef_type" => "role"
      }
    end
    alias to_h to_hash
    def self.from_hash(h, name = h["name"])
      new.tap do |r|
        r.name(name)
        r.description(h["description"]) if h["description"]
        r.default_attributes(h["default_attributes"] || {})
        r.override_attributes(h["override_attributes"] || {})
        r.run_list(*(h["run_list"] || []))
        r.env_run_lists(h["env_run_lists"]) if h["env_run_lists"]
      end
    end
    def self.load_or_nil(name) = FxStore.current.role(name)
    def self.load(name)
      load_or_nil(name) || Chef::FxMissing.raise('404 "Not Found"', "there is no role #{name}")
    end
  end

  class Environment
    attr_accessor :cookbook_versions
    def initialize
      @name, @description = "_default", ""
      @default_attributes, @override_attributes, @cookbook_versions = ChefUtils::Mash.new, ChefUtils::Mash.new, {}
    end
    def name(v = nil) = v.nil? ? @name : @name = v
    def description(v = nil) = v.nil? ? @description : @description = v
    def default_attributes(v = nil) = v.nil? ? @default_attributes : @default_attributes = ChefUtils::Mash.new(v)
    def override_attributes(v = nil) = v.nil? ? @override_attributes : @override_attributes = ChefUtils::Mash.new(v)
    def cookbook(name, version) = @cookbook_versions[name] = version
    def cookbook_versions(v = nil) = v.nil? ? @cookbook_versions : @cookbook_versions = v
    def self.from_hash(h, name = h["name"])
      new.tap do |e|
        e.name(name)
        e.description(h["description"]) if h["description"]
        e.default_attributes(h["default_attributes"] || {})
        e.override_attributes(h["override_attributes"] || {})
        e.cookbook_versions(h["cookbook_versions"] || {})
      end
    end
    def self.load(name) = FxStore.current.environment(name)
  end
end
