# Parameters of types written in Ruby: their values, checks and defaults.
module Puppet
  module CompilableResourceType; end
  class Parameter
    class << self
      attr_accessor :name, :default_block, :validator, :munger, :unmunger, :required_features, :value_collection,
                    :parent_type, :meta, :boolean, :aliases, :noopable
      attr_writer :isnamevar, :doc
      def desc(text = nil) = @doc = text
      def doc = @doc
      alias doc= desc
      def isnamevar = @isnamevar = true
      def isnamevar? = !!@isnamevar || name == :name
      alias namevar? isnamevar?
      def isrequired = @required = true
      def required? = !!@required
      def nodefault = @default_block = nil
      def defaultto(value = nil, &block)
        block ||= -> { value }
        @default_block = block
        define_method(:default, &block)
      end
      def default_for(_resource) = nil
      def validate(&block) = __define_of_value(:unsafe_validate, block)
      def munge(&block) = __define_of_value(:unsafe_munge, block)
      def unmunge(&block) = __define_of_value(:unmunge, block)
      # A block made of a method's name, as in `munge(&:strip)`, is about the value.
      def __define_of_value(name, block)
        return define_method(name, &block) unless block.lambda? && block.arity == -2
        define_method(name) { |value| block.call(value) }
      end
      def newvalues(*values)
        (@values ||= []).concat(values.flatten)
      end
      def aliasvalue(name, other) = (@value_aliases ||= {})[name.to_sym] = other
      def values = @values || (superclass.respond_to?(:values) ? superclass.values : []) || []
      def value_aliases = @value_aliases || (superclass.respond_to?(:value_aliases) ? superclass.value_aliases : {})
      def required_features=(f)
        @required_features = f
      end
      def needs_features(*f) = @required_features = f
      def proxymethods(*names) = names.each { |n| define_method(n) { |*a| resource.send(n, *a) } }
      def newvalue(name, options = {}, &block)
        (@values ||= []) << name
        if block
          m = :"set_#{name.is_a?(Regexp) ? name.source.gsub(/\W/, "_") : name}"
          define_method(m, &block)
          (@value_methods ||= {})[name] = m
        end
        (@value_events ||= {})[name] = options[:event] if options[:event]
        (@value_features ||= {})[name] = Array(options[:required_features]) if options[:required_features]
      end
      def value_methods
        @value_methods || (superclass.respond_to?(:value_methods) ? superclass.value_methods : {}) || {}
      end
      def value_features = @value_features || (superclass.respond_to?(:value_features) ? superclass.value_features : {})
      def value_events = @value_events || (superclass.respond_to?(:value_events) ? superclass.value_events : {})
      def initvars = nil
      def format_value_for_display(v, depth = 0)
        case v
        when nil then ""
        when true, false, Numeric then v.to_s
        when Array then "[#{v.map { |x| format_value_for_display(x, depth) }.join(", ")}]"
        when Hash
          return "{}" if v.empty?
          inner = "  " * (depth + 1)
          rows = v.map { |k, x| "#{inner}#{format_value_for_display(k)} => #{format_value_for_display(x, depth + 1)}" }
          "{\n#{rows.join(",\n")}\n#{"  " * depth}}"
        else
          s = v.to_s
          s =~ /[[:cntrl:]]/ ? s.inspect : "'#{s.gsub("'") { "\\'" }}'"
        end
      end
      def optional = nil
      def sensitive(v = true) = @sensitive = v
    end
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    attr_accessor :resource, :parent, :sensitive
    attr_reader :should_value
    def initialize(options = {})
      options = options.transform_keys { |k| k.to_s.to_sym }
      @resource = options.delete(:resource)
      options.each { |name, value| public_send(:"#{name}=", value) }
    end
    def name = self.class.name
    def default = nil
    def value = @value
    def value=(v)
      validate(v)
      @value = munge(v)
    end
    def munge(v)
      __munge_values(v)
    rescue Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Munging failed for value #{v.inspect} in class #{name}: #{e.message}"
    end
    def unsafe_munge(v) = __canonical(v)
    def __munge_values(v) = unsafe_munge(v)
    def unmunge(v) = v
    def validate(v)
      __check_values(v)
      __check_features(v)
      unsafe_validate(v)
    rescue ArgumentError, Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Validate method failed for class #{name}: #{e.message}"
    end
    def unsafe_validate(_v) = nil
    def __canonical(v)
      vals = self.class.values
      return v if vals.empty?
      s = v.to_s
      a = self.class.value_aliases
      s = a[s.to_sym].to_s if a.key?(s.to_sym)
      # A value that is named is a symbol, true and false as well.
      vals.any? { |x| !x.is_a?(Regexp) && x.to_s == s } ? s.to_sym : v
    end
    def __check_features(v)
      needed = self.class.value_features.find { |k, _| k.is_a?(Regexp) ? k.match?(v.to_s) : k.to_s == v.to_s }&.last
      return if needed.nil? || provider.satisfies?(needed)
      names = needed.map { |f| "'#{f}'" }.join(", ")
      raise ArgumentError, "Provider #{provider.class.name} must have features #{names} to set '#{name}' to '#{v}'"
    end
    def __check_values(v)
      vals = self.class.values
      return if vals.empty?
      ok = vals.any? { |x| x.is_a?(Regexp) ? x.match?(v.to_s) : x.to_s == v.to_s }
      ok ||= self.class.value_aliases.key?(v.to_s.to_sym)
      return if ok
      names = vals.reject { |x| x.is_a?(Regexp) }.map(&:to_s)
      regs = vals.select { |x| x.is_a?(Regexp) }
      str = +""
      str << "Valid values are #{names.join(", ")}. " unless names.empty?
      str << "Valid values match #{regs.map(&:inspect).join(", ")}." unless regs.empty?
      raise ArgumentError, "Invalid value #{v.inspect}. #{str}"
    end
    def provider = resource.provider
    def path = "#{resource.path}/#{name}"
    def to_s = name.to_s
    def tags = []
    def noop = resource.noop?
    def should_to_s(v) = self.class.format_value_for_display(v)
    def is_to_s(v) = self.class.format_value_for_display(v)
    def format(fmt, *args) = args.empty? ? fmt : Kernel.format(fmt, *args)
    def metaparam? = false
    class Boolean < Parameter
      newvalues(true, false, :yes, :no)
      def unsafe_munge(v)
        case v.to_s.downcase
        when "true", "yes" then true
        when "false", "no" then false
        else raise ArgumentError, "expected a boolean value"
        end
      end
      def self.initvars = nil
    end
    class Path < Parameter
      class << self
        def accept_arrays(v = true) = @accept_arrays = v
        def arrays? = !!@accept_arrays
      end
      def unsafe_validate(v)
        Array(v).each do |p|
          raise ArgumentError, "#{name} must be a fully qualified path" unless Puppet::Util.absolute_path?(p)
        end
      end
    end
    class ValueCollection; end
    class PackageOptions < Parameter; end
  end
end
