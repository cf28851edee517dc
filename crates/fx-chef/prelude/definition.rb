# Definitions: the macros of old cookbooks.
class Chef
  class ResourceDefinition
    attr_accessor :name, :params, :recipe, :node, :enclosing_provider
    def initialize(node = nil)
      @name, @params, @recipe, @node = nil, {}, nil, node
    end
    def define(name, params = {}, &block)
      raise ArgumentError, "You must pass a symbol as the name of the resource" unless name.is_a?(Symbol)
      raise ArgumentError, "You must pass a block" unless block
      @name, @params, @recipe = name, params, block
      @params[:name] ||= nil
      Chef::DSL::Definitions.add_definition(name)
      true
    end
    def method_missing(symbol, *args, &block)
      raise NoMethodError, "cannot call #{symbol}: an empty argument" if args.empty?
      @params[symbol] = args.length == 1 ? args[0] : args
    end
    def respond_to_missing?(*) = true
    def to_s = "resource definition: #{name}"
  end
  # The definitions of a file, by name.
  class ResourceDefinitionList
    attr_accessor :defines
    def initialize = @defines = {}
    def define(name, params = {}, &block)
      @defines[name] = Chef::ResourceDefinition.new
      @defines[name].define(name, params, &block)
      true
    end
    def from_file(path) = instance_eval(::File.read(path), path, 1)
  end
end
