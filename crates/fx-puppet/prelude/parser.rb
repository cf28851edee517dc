# Functions of the 3.x API, scopes, templates, and references to resources.
module Puppet
  module Parser
    ParserFactory = nil
    module Functions
      TABLE = {}
      def self.newfunction(name, options = {}, &block)
        name = name.to_s
        TABLE[name] = [block, options]
        Scope.class_eval { define_method(:"real_function_#{name}", &block) if block }
        Scope.class_eval { define_method(:"function_#{name}") { |*args| __run_function(name, args, nil) } }
        nil
      end
      def self.function(name, *) = Puppet::Bridge.function?(name.to_s) ? "function_#{name}" : false
      def self.autoloader = Autoloader.new
      def self.environment_module(*) = self
      def self.rvalue?(name) = (TABLE[name.to_s] || [nil, {}])[1][:type] == :rvalue
      def self.arity(name) = (TABLE[name.to_s] || [nil, {}])[1][:arity] || -1
      class Autoloader
        def load(name, *) = Puppet::Bridge.function?(name.to_s)
        def loadall(*) = nil
      end
      def self.__describe(name)
        entry = TABLE[name] or return nil
        [entry[1][:arity] || -1, (entry[1][:type] || :statement).to_s]
      end
      def self.__run(name, scope, args)
        Scope.new(scope).__send__(:"real_function_#{name}", args)
      end
    end
    class Scope
      attr_reader :__number
      def initialize(number = 0) = @__number = number
      # What Ruby code set, as it was: the language has no symbols to give back.
      VARS = {}
      def lookupvar(name, _options = {})
        own = VARS[@__number]
        return own[name.to_s] if own && own.key?(name.to_s)
        found, value = Puppet::Bridge.lookupvar(@__number, name.to_s)
        return value if found || name.to_s.match?(/\A(?:\d+|(?:caller_)?module_name)\z/)
        # Whoever asks may catch that there is none.
        begin
          throw(:undefined_variable)
        rescue UncaughtThrowError
          Puppet::Bridge.undefined_variable(name.to_s)
        end
        nil
      end
      def [](name, _options = {}) = lookupvar(name)
      def lookup_qualified_variable(*parts) = lookupvar(parts.join("::"))
      def include?(name) = !Puppet::Bridge.lookupvar(@__number, name.to_s)[1].nil?
      def exist?(name) = Puppet::Bridge.lookupvar(@__number, name.to_s)[0]
      alias bound? exist?
      def setvar(name, value, _options = {})
        (VARS[@__number] ||= {})[name.to_s] = value
        Puppet::Bridge.setvar(@__number, name.to_s, value)
      end
      def []=(name, value)
        setvar(name, value)
      end
      def to_hash(*) = Puppet::Bridge.scope_hash(@__number)
      def call_function(name, args, &block) = Puppet::Bridge.call_function(@__number, name.to_s, [*args], block)
      def compiler = Compiler.new(self)
      def catalog = Catalog.new(self)
      def environment = Puppet::Node::Environment.current
      def known_resource_types = Puppet::Resource::TypeCollection.new
      def resource = ScopeResource.new(self, Puppet::Bridge.scope_info(@__number)["resource"])
      def source = ScopeSource.new(Puppet::Bridge.scope_info(@__number))
      def module_name = Puppet::Bridge.scope_info(@__number)["module"]
      def findresource(type, title = nil) = Catalog.new(self).resource(type, title)
      def tags = Puppet::Bridge.scope_info(@__number)["tags"]
      def tagged?(*tags) = tags.flatten.any? { |t| self.tags.include?(t.to_s.downcase) }
      def class_scope(_klass) = nil
      def parent = self
      def find_global_scope = Scope.new(0)
      def global_scope = Scope.new(0)
      def is_topscope? = @__number == 0
      def host = lookupvar("::clientcert")
      def inspect = "Scope(#{Puppet::Bridge.scope_info(@__number)["resource"]})"
      alias to_s inspect
      def parse_error(*a) = raise(Puppet::ParseError, *a)
      def debug(m) = Puppet.debug(m)
      def warning(m) = Puppet.warning(m)
      def notice(m) = Puppet.notice(m)
      def method_missing(name, *args, &block)
        text = name.to_s
        return __run_function(text.delete_prefix("function_"), args, block) if text.start_with?("function_")
        super
      end
      # Of two functions of one name a scope calls the one of the 3.x API, without the detour over the language.
      def __run_function(name, args, block)
        given = args.first
        unless given.is_a?(Array)
          raise ArgumentError, "custom functions must be called with a single array that contains the arguments. " \
                               "For example, function_example([1]) instead of function_example(1)"
        end
        real = :"real_function_#{name}"
        unless respond_to?(real) || (Puppet::Bridge.old_function(name) && respond_to?(real))
          return Puppet::Bridge.call_function(@__number, name, given, block)
        end
        arity = Functions.arity(name)
        if arity >= 0 ? given.size != arity : given.size < -arity - 1
          wanted = arity >= 0 ? arity : "minimum #{-arity - 1}"
          raise ArgumentError, "#{name}(): Wrong number of arguments given (#{given.size} for #{wanted})"
        end
        result = __send__(real, given)
        Functions.rvalue?(name) ? result : nil
      end
      def respond_to_missing?(name, priv = false)
        text = name.to_s
        return Puppet::Bridge.function?(text.delete_prefix("function_")) if text.start_with?("function_")
        super
      end
    end
    ScopeSource = Struct.new(:info) do
      def module_name = info["module"]
      def name = info["source"]
      def file = info["file"]
      def type = :hostclass
    end
    ScopeResource = Struct.new(:scope, :ref) do
      def to_s = ref
      def name = ref[/\[(.*)\]\z/m, 1]
      alias_method :title, :name
      def type = ref[/\A[^\[]*/]
      def [](name) = Puppet::Bridge.resource_param(ref, name.to_s)
      def __found = (data = Puppet::Bridge.find_resource(ref)) && Puppet::Parser::Resource.__found(data)
      def to_hash = { name: name }.merge(__found&.to_hash || {})
      def parameters = to_hash
      def tags = scope.tags
      def file = Puppet::Bridge.scope_info(scope.__number)["file"]
      def line = nil
    end
    class Compiler
      def initialize(scope) = @scope = scope
      def catalog = Catalog.new(@scope)
      def topscope = Scope.new(0)
      def environment = Puppet::Node::Environment.current
      def node = Puppet::Node.new(Puppet::Bridge.setting("certname"))
      def loaders = Puppet::Pops::Loaders.new
      def findresource(*a) = catalog.resource(*a)
      def resources = catalog.resources
      def evaluate_classes(names, scope, _lazy = true)
        Puppet::Bridge.call_function(scope.__number, "include", Array(names), nil)
      end
      def add_resource(scope, resource)
        kind, title = resource.type.to_s, resource.title.to_s
        Puppet::Bridge.declare(scope.__number, kind, title, resource.__params, !!resource.virtual)
      end
      def add_override(*) = raise(Puppet::Error, "compiler.add_override is not supported")
    end
    class Catalog
      def initialize(scope) = @scope = scope
      def resource(type, title = nil)
        type = type.name.to_s if type.is_a?(Class) || type.is_a?(Puppet::Resource::KnownDefine)
        type = "class" if type.is_a?(Puppet::Resource::KnownClass) || (title && type.to_s.empty?)
        ref = type.is_a?(String) && title.nil? ? type : title.nil? ? type.to_s : "#{type}[#{title}]"
        found = Puppet::Bridge.find_resource(ref)
        found && Puppet::Parser::Resource.__found(found)
      end
      def resources = Puppet::Bridge.all_resources.map { |r| Puppet::Parser::Resource.__found(r) }
      def classes = Puppet::Bridge.scope_info(0)["classes"]
      def tags = []
      def add_resource(resource) = Compiler.new(@scope).add_resource(@scope, resource)
    end
    class AST
      class Leaf; end
    end
    module Files
      def self.find_template(name, *) = Puppet::Bridge.find_file("templates", name.to_s)
      def self.find_file(name, *) = Puppet::Bridge.find_file("files", name.to_s)
    end
    class TemplateWrapper
      attr_reader :__scope
      attr_accessor :file
      def initialize(scope)
        @__scope__ = scope
      end
      def scope = @__scope__
      def has_variable?(name) = scope.include?(name.to_s)
      def classes = scope.catalog.classes
      def tags = scope.tags
      def all_tags = scope.tags
      def __file__ = @__file__
      def to_s = "template[#{@__file__ || "inline"}]"
      COMPILED = {}
      # Code that may change a list in place.
      CHANGES = /
        \w!|<<
        |\.(push|append|prepend|concat|delete|delete_if|unshift|insert|clear|shift|pop|store|update|replace|keep_if)\b
        |\]\s*\|?\|?=[^=~>]
      /x
      def self.__compile(key, text, file)
        number = COMPILED.size
        name = :"__template_#{number}"
        text = text.dup.force_encoding("UTF-8")
        src = ERB.new(text, trim_mode: "-").src
        begin
          class_eval("def #{name}()\n#{src}\n_erbout\nend", file || "inline_template", -1)
        rescue SyntaxError
          # What no method may do, such as setting a constant, a text that is evaluated may.
          define_method(name) { eval("#{src}\n_erbout", binding, file || "inline_template", 1) }
        end
        vars = ERB.__variables(text)
        changes = text.match?(CHANGES)
        COMPILED[key] = [name, vars, changes]
      end
      def self.__render(number, key, text, file)
        name, vars, changes = COMPILED[key] || __compile(key, text, file)
        lists = changes ? {} : nil
        wrapper = new(Scope.new(number))
        wrapper.instance_variable_set(:@__file__, file)
        vars.each do |v|
          found, value = Puppet::Bridge.lookupvar(number, v)
          wrapper.instance_variable_set(:"@#{v}", value) if found && !value.nil?
          lists[v] = [value, __copy(value)] if lists && (value.is_a?(Array) || value.is_a?(Hash))
        end
        text = begin
          wrapper.__send__(name)
        rescue Puppet::CarriedFailure
          raise
        rescue => detail
          raise Puppet::TemplateFailure, __failed(detail, key, file)
        end
        # A list is the same thing outside: what was done to it is done.
        lists&.each { |v, (now, before)| Puppet::Bridge.changed(number, v, now) if now != before }
        text
      end
      def self.__failed(detail, key, file)
        return "Failed to parse inline template: #{detail}" unless file
        path, line = detail.backtrace.to_a.first.to_s.split(":")
        name = key.delete_prefix("file:")
        "Failed to parse template #{name}:\n  Filepath: #{path}\n  Line: #{line}\n  Detail: #{detail}\n"
      end
      def self.__copy(value)
        case value
        when Array then value.map { |v| __copy(v) }
        when Hash then value.transform_values { |v| __copy(v) }
        else value
        end
      end
      def self.__compiled?(key) = COMPILED.key?(key)
    end
  end
  class Resource
    attr_accessor :type, :title, :catalog, :virtual, :exported, :file, :line, :tags
    attr_writer :sensitive_parameters
    def self.const_missing(name)
      return super unless name == :Catalog
      Puppet::Bridge.part("catalog")
      const_get(name)
    end
    def sensitive_parameters = @sensitive_parameters ||= []
    # The resource of the catalog that it names.
    def resolve = catalog ? catalog.resource(ref) : nil
    class TypeCollection
      def find_hostclass(name, *) = Puppet::Bridge.class?(name.to_s) ? KnownClass.new(name.to_s) : nil
      alias hostclass find_hostclass
      def find_definition(name, *) = Puppet::Bridge.define?(name.to_s) ? KnownDefine.new(name.to_s) : nil
      alias definition find_definition
      def node(*) = nil
    end
    KnownClass = Struct.new(:name) do
      def ensure_in_catalog(scope, params = nil) = Puppet::Bridge.call_function(scope.__number, "include", [name], nil)
    end
    KnownDefine = Struct.new(:name) do
      def arguments = Puppet::Bridge.define_params(name)
      def valid_parameter?(n) = arguments.key?(n.to_s)
    end
    class Type; end
    def self.type_and_title(type, title)
      r = new(type, title)
      [r.type, r.title]
    end
    def initialize(type, title = nil, attributes = {})
      if title.nil? && type.to_s =~ /\A([^\[\]]+)\[(.+)\]\z/m
        type, title = $1, $2
      end
      if type.is_a?(Class) && type.respond_to?(:name)
        type = type.name
      end
      @type = type.to_s.sub(/\A::/, "").split("::").map(&:capitalize).join("::")
      @title = @type == "Class" ? title.to_s.sub(/\A::/, "").split("::").map(&:capitalize).join("::") : title
      @params = {}
      params = attributes[:parameters] || {}
      params.each { |k, v| self[k] = v } if params.is_a?(Hash)
      params.each { |p| self[p.name] = p.value } if params.is_a?(Array)
    end
    def __params = @params.transform_keys(&:to_s)
    def [](name) = name.to_s == "title" ? @title : @params[name.to_s.to_sym]
    def []=(name, value)
      @params[name.to_s.to_sym] = value
    end
    alias set_parameter []=
    def to_hash = @params
    alias parameters to_hash
    def each(&b) = @params.each(&b)
    def has_key?(k) = @params.key?(k.to_s.to_sym)
    alias include? has_key?
    alias key? has_key?
    def delete(k) = @params.delete(k.to_s.to_sym)
    def keys = @params.keys
    def ref = to_s
    def to_s = "#{@type}[#{@title}]"
    def name = self[:name] || @title
    def class? = @type == "Class"
    def builtin_type? = !!Puppet::Type.type(@type.downcase)
    def resource_type = Puppet::Type.type(@type.downcase)
    def virtual? = !!@virtual
    def ==(other) = other.respond_to?(:ref) && ref == other.ref
    alias eql? ==
    def hash = ref.hash
    def inspect = "#{self}#{@params}"
    def tagged?(*) = false
    def valid_parameter?(n) = (t = resource_type) ? t.valid_parameter?(n) : true
    def to_ral = Puppet::Type.type(@type.downcase).new(self)
    def exported? = !!@exported
    def environment = Puppet::Node::Environment.current
  end
  class Parser::Resource < Resource
    Param = Struct.new(:name, :value, :source, :line, :file, :add, keyword_init: true)
    attr_accessor :scope, :source
    def initialize(type, title = nil, attributes = {})
      super
      @scope = attributes[:scope]
      @virtual = attributes[:virtual]
    end
    def self.__found(data)
      r = new(data["type"], data["title"])
      r.virtual = data["virtual"]
      r.tags = data["tags"]
      data["params"].each { |k, v| r[k] = v }
      r
    end
    def evaluate(*) = nil
    def finish(*) = nil
  end
end
