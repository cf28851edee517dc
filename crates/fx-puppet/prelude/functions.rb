# Functions of the 4.x API.
module Puppet
  module Functions
    TABLE = {}
    class Dispatch
      attr_reader :method, :params, :block, :injections, :returns, :inject_order
      attr_accessor :block_optional, :arg_check
      def initialize(method)
        @method = method
        @params = []
        @injections = 0
        @inject_order = []
      end
    end
    class DispatcherBuilder
      def initialize(function, dispatch)
        @function, @dispatch = function, dispatch
      end
      def param(type, name) = add(type, name, "")
      alias required_param param
      def optional_param(type, name) = add(type, name, "?")
      def repeated_param(type, name) = add(type, name, "*")
      alias optional_repeated_param repeated_param
      def required_repeated_param(type, name) = add(type, name, "+")
      def block_param(*args) = block(args, false)
      alias required_block_param block_param
      def optional_block_param(*args) = block(args, true)
      def return_type(type) = @dispatch.instance_variable_set(:@returns, type.to_s)
      def scope_param = inject(:scope)
      def compiler_param = inject(:compiler)
      def cache_param = inject(:cache)
      def pal_script_compiler_param = inject(:compiler)
      def pal_catalog_compiler_param = inject(:compiler)
      def argument_mismatch(*) = nil
      private
      def inject(what)
        @dispatch.inject_order << [@dispatch.params.size, what]
      end
      def add(type, name, mark)
        @dispatch.params << [type.to_s, name.to_s, mark]
      end
      def block(args, optional)
        type = args.first.is_a?(String) ? args.first : "Callable"
        name = (args.last.is_a?(Symbol) ? args.last : :block).to_s
        @dispatch.instance_variable_set(:@block, [type, name])
        @dispatch.block_optional = optional
      end
    end
    class Function
      attr_accessor :closure_scope, :loader
      class << self
        attr_accessor :dispatches, :local_type_texts, :function_name, :mismatch
        def dispatch(method, &block)
          d = Dispatch.new(method)
          self.dispatches ||= []
          dispatches << d
          DispatcherBuilder.new(self, d).instance_eval(&block)
        end
        def argument_mismatch(method, &block)
          d = Dispatch.new(method)
          d.arg_check = true
          self.dispatches ||= []
          dispatches << d
          DispatcherBuilder.new(self, d).instance_eval(&block)
        end
        def local_types(&block)
          self.local_type_texts ||= []
          LocalTypes.new(local_type_texts).instance_eval(&block)
        end
        def signatures
          (dispatches || []).map do |d|
            injected = d.inject_order.map { |at, w| [at, w.to_s] }
            [d.method.to_s, d.params, d.block, !!d.block_optional, injected, d.returns, !!d.arg_check]
          end
        end
        def any_signature
          m = instance_method(function_name.to_s.split("::").last.to_sym)
          ps = m.parameters
          names = ps.filter_map do |kind, name|
            case kind
            when :req then ["Any", (name || "p").to_s, ""]
            when :opt then ["Any", (name || "p").to_s, "?"]
            when :rest then ["Any", (name || "p").to_s, "*"]
            end
          end
          block = ps.any? { |k, _| k == :block } ? ["Callable", "block"] : nil
          [[m.name.to_s, names, block, true, [], nil, false]]
        end
      end
      def initialize(scope = nil, loader = nil)
        @closure_scope, @loader = scope, loader
      end
      def closure_scope = @closure_scope || Puppet::Parser::Scope.new(0)
      def call_function(name, *args, &block) = Puppet::Bridge.call_function(0, name.to_s, args, block)
      def call(scope, *args, &block)
        Puppet::Bridge.call_function(scope.__number, self.class.function_name.to_s, args, block)
      end
    end
    class LocalTypes
      def initialize(into) = @into = into
      def type(text) = @into << text
    end
    class InternalFunction < Function; end
    Function3x = Function
    InternalDispatchBuilder = DispatcherBuilder
    def self.create_function(name, base = Function, &block)
      k = Class.new(base)
      k.function_name = name.to_s
      k.dispatches = []
      k.class_eval(&block)
      TABLE[name.to_s] = k
      k
    end
    def self.create_loaded_function(name, _loader, base = Function, &block) = create_function(name, base, &block)
    # What the compiler needs to know to call it.
    def self.__describe(name)
      k = TABLE[name] or return nil
      sigs = k.dispatches.nil? || k.dispatches.empty? ? k.any_signature : k.signatures
      [k.allocate.tap { |f| f.send(:initialize) }, sigs, k.local_type_texts || []]
    end
    # Whether a function takes its caller's scope as first argument by itself.
    def self.__wants_scope(function) = function.class.method_defined?(:call, false)
    def self.__run(function, method, scope, args, block)
      old = function.instance_variable_get(:@__scope)
      function.instance_variable_set(:@__scope, scope)
      begin
        return function.__send__(method, *args, &block) unless (context = args.last).respond_to?(:not_found)
        # The way out of a back end must pass by its own rescues: none of them may catch it.
        found = catch(:no_such_key) { function.__send__(method, *args, &block) }
        context.class::MISSING.equal?(found) ? throw(:no_such_key) : found
      ensure
        function.instance_variable_set(:@__scope, old)
      end
    end
  end
end
