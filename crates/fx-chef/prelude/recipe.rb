# A recipe being compiled.
class Chef
  class Recipe
    include Chef::DSL::Recipe
    attr_accessor :cookbook_name, :recipe_name, :recipe, :params, :run_context

    def self.parse_recipe_name(name, current_cookbook: nil)
      name = name.to_s
      case name
      when /\A::/ then [current_cookbook.to_sym.to_s, name.delete_prefix("::")]
      when /::/ then name.split("::", 2)
      else [name, "default"]
      end
    end

    def initialize(cookbook_name, recipe_name, run_context)
      @cookbook_name = cookbook_name
      @recipe_name = recipe_name
      @run_context = run_context
      @params = {}
    end
    def fx_params = @params
    def node = @run_context.node
    def cookbook_collection = run_context.cookbook_collection

    def from_file(path)
      @source_file = path
      FX.eval_file(path, self)
    end
    def source_file = @source_file

    def from_hash(hash)
      hash["resources"].each do |rhash|
        type = rhash.delete("type").to_sym
        name = rhash.delete("name")
        res = declare_resource(type, name, created_at: "#{@source_file}:1")
        rhash.each { |k, v| res.send(k, v) }
      end
    end
    def from_yaml_file(path)
      @source_file = path
      from_yaml(FX.read(path).to_s)
    end
    def from_yaml(text)
      require "yaml"
      if text.scan(/^---(\s|$)/).size > 1
        raise ArgumentError, "YAML recipe '#{@source_file}' contains multiple documents, only one is supported"
      end
      res = ::YAML.safe_load(text, permitted_classes: [])
      unless res.is_a?(Hash) && res.key?("resources")
        raise ArgumentError, "YAML recipe '#{@source_file}' must contain a top-level 'resources' hash (YAML " \
          "sequence), i.e. 'resources:'"
      end
      from_hash(res)
    end
    def from_json_file(path)
      @source_file = path
      res = Chef::JSONCompat.parse(FX.read(path).to_s)
      unless res.is_a?(Hash) && res.key?("resources")
        raise ArgumentError, "JSON recipe '#{path}' must contain a top-level 'resources' hash"
      end
      from_hash(res)
    end

    def to_s = "cookbook: #{cookbook_name || "(none)"}, recipe: #{recipe_name || "(none)"} "
    def inspect = to_s
    def fx_no_method(name, bare)
      raise NameError.new("undefined local variable or method `#{name}' for #{self}:#{self.class}", name) if bare
      raise NoMethodError.new("undefined method `#{name}' for #{self}:#{self.class}", name)
    end
  end
end
