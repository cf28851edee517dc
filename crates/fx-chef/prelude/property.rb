# A property: how a value is coerced, checked, kept and read.
class Chef
  class Property
    NOT_CHECKS = %i{declared_in name instance_variable_name desired_state identity default name_property coerce required
      nillable sensitive description introduced deprecated default_description skip_docs validation_message}.freeze

    # Names of the original's own methods that a property may not take.
    TAKEN = %i{action after_created allowed_actions as_json before_notifications cookbook_name cookbook_version
      current_value declared_key declared_type default_guard_interpreter
      defined_at delayed_action delayed_notifications elapsed_time enclosing_provider events executed_by_runner
        guard_interpreter identity immediate_notifications inspect load_from logger
      node not_if notifies notifies_before notifies_delayed notifies_immediately only_if params provider
        provider_for_action recipe_name resource_initializing resource_name run_action
      run_context source_line source_line_file source_line_number subscribes to_h to_hash to_json to_s to_text updated
        validate_action value_to_text with_umask}.freeze

    attr_reader :options, :name, :declared_in
    def self.derive(**options) = new(**options)

    def initialize(**options)
      if options.key?(:name_attribute)
        if options.key?(:name_property)
          raise ArgumentError, "name_attribute and name_property are functionally identical and both cannot be " \
            "specified on a property at once. Use just one on property #{self}"
        end
        options = options.to_h { |k, v| k == :name_attribute ? [:name_property, v] : [k, v] }
      end
      @options = options
      @name = options[:name] && (options[:name] = options[:name].to_sym)
      @declared_in = options[:declared_in]
      if options.key?(:default) && options.key?(:name_property)
        raise ArgumentError, "A property cannot be both a name_property/name_attribute and have a default value. Use " \
          "one or the other on property #{self}"
      end
      options[:desired_state] = false if options[:name_property] && !options.key?(:desired_state)
      @ivar = options.key?(:instance_variable_name) ? options[:instance_variable_name] : (@name && :"@#{@name}")
      @ivar = @ivar.to_sym if @ivar
      @coerce = options[:coerce]
      @has_default = options.key?(:default) || !!options[:name_property]
      @required = options[:required]
      @message = options[:validation_message]
      @checks = nil
      d = options[:default]
      if @has_default && !d.is_a?(DelayedEvaluator) && !options[:name_property]
        Property.deep_freeze(d) unless d.frozen?
        begin
          @stored_default = coerce_and_validate(nil, d)
          @has_stored = true
        rescue Chef::Exceptions::CannotValidateStaticallyError
          @has_stored = false
        end
        @shared = @has_stored && (d.nil? || d == true || d == false || d.is_a?(Numeric) || d.is_a?(Symbol))
      end
    end

    def self.deep_freeze(o)
      if o.is_a?(Hash)
        o.each_value { |v| deep_freeze(v) }
      elsif o.is_a?(Array)
        o.each { |v| deep_freeze(v) }
      end
      o.freeze
    end

    def to_s = "#{name || "<property type>"}#{declared_in ? " of resource #{declared_in.resource_name}" : ""}"
    def instance_variable_name = @ivar
    def description = @options[:description]
    def introduced = @options[:introduced]
    def default_description = @options[:default_description]
    def equal_to = @options[:equal_to]
    def default
      return @options[:default] if @options.key?(:default)
      return Chef::DelayedEvaluator.new { name } if @options[:name_property]
      nil
    end
    def identity? = @options[:identity]
    def desired_state? = @options.key?(:desired_state) ? @options[:desired_state] : true
    def name_property? = @options[:name_property]
    def has_default? = @has_default
    def sensitive? = @options.fetch(:sensitive, false)
    def skip_docs? = @options.fetch(:skip_docs, false)
    def required?(action = nil)
      return false unless @required
      return (@required & Array(action)).any? if !action.nil? && @required.is_a?(Array)
      true
    end
    def validation_options = @options.reject { |k, _| NOT_CHECKS.include?(k) }

    def call(resource, value = NOT_PASSED)
      NOT_PASSED.equal?(value) ? get(resource) : set(resource, value)
    end

    def get(resource, nil_set: false)
      value = nil
      if !@ivar
        value = resource.send(@name)
      elsif resource.instance_variable_defined?(@ivar)
        value = resource.instance_variable_get(@ivar)
        value = output(resource, value) if value.is_a?(DelayedEvaluator)
      elsif @has_default
        return @stored_default if @shared
        if @options[:name_property]
          value = coerce_and_validate(resource, resource.name)
        elsif @has_stored
          value = deep_dup(@stored_default)
        else
          value = @options[:default]
          value = value.is_a?(DelayedEvaluator) ? output(resource, value) :
            coerce_and_validate(resource, deep_dup(value))
        end
        resource.instance_variable_set(@ivar, value) unless value.nil? || value.frozen?
      end
      if value.nil? && @required && required?(action_of(resource))
        raise Chef::Exceptions::ValidationFailed, "#{@name} is a required property"
      end
      value
    end

    def set(resource, value)
      if value.nil? && !accepts_nil?
        value = default
      end
      value = coerce_and_validate(resource, value) unless value.is_a?(DelayedEvaluator)
      Chef.deprecated(:property, @options[:deprecated]) if @options.key?(:deprecated)
      resource.instance_variable_set(@ivar, value) if @ivar
      resource.send(@name, value) unless @ivar
      if value.nil? && @required && required?(action_of(resource))
        raise Chef::Exceptions::ValidationFailed, "#{@name} is a required property"
      end
      value
    end

    def is_set?(resource) = @ivar ? resource.instance_variable_defined?(@ivar) : true
    def get_value(resource) = @ivar ? resource.instance_variable_get(@ivar) : resource.send(@name)
    def set_value(resource, value) = @ivar ? resource.instance_variable_set(@ivar, value) : resource.send(@name, value)
    def value_is_set?(resource) = is_set?(resource)
    def reset(resource)
      resource.remove_instance_variable(@ivar) if is_set?(resource)
    end
    alias reset_value reset
    def coerce(resource, value)
      return value if @coerce.nil? || value.nil?
      run_in(resource, @coerce, value)
    end

    def derive(**modified)
      options = @options
      if modified.key?(:name_property) || modified.key?(:name_attribute) || modified.key?(:default)
        options = options.reject { |k, _| %i{name_attribute name_property default}.include?(k) }
      end
      self.class.new(**options.merge(modified))
    end

    def explicitly_accepts_nil?(*) = accepts_nil?
    def accepts_nil?
      return @accepts_nil if defined?(@accepts_nil)
      @accepts_nil = @options.key?(:coerce) ||
        (@options.key?(:is) &&
        [@options[:is]].flatten(1).any? { |t| t.is_a?(Proc) ? false : t.is_a?(Property) ? t.accepts_nil? : t === nil })
    end

    def emit_dsl
      return unless @ivar
      if declared_in.method_defined?(name) && !Chef::Resource.properties.key?(name)
        owner = declared_in.instance_method(name).owner
        if owner == Object || owner == Kernel || owner == BasicObject ||
          (owner == Chef::Resource && TAKEN.include?(name))
          rn = declared_in.respond_to?(:resource_name) ? declared_in.resource_name : declared_in
          raise ArgumentError, "Property `#{name}` of resource `#{rn}` overwrites an existing method. A different " \
            "name should be used for this property."
        end
      end
      if instance_of?(Property)
        return FX.accessor(declared_in, self, @name, @ivar, fx_plain_types, @coerce, @shared, @stored_default,
          @has_default, !!@required, !!@options[:name_property])
      end
      prop = self
      n = @name
      declared_in.define_method(n) do |value = NOT_PASSED, &block|
        prop.refuse_block(self) if block
        NOT_PASSED.equal?(value) ? prop.get(self) : prop.set(self, value)
      end
      declared_in.define_method(:"#{n}=") { |value| prop.set(self, value) }
    end

    # The classes one of which a value must be, when that is all there is to check; nil otherwise.
    def fx_plain_types
      return nil if @options.key?(:deprecated) || @message || (@coerce && !(@coerce.is_a?(Proc) && @coerce.arity <= 1))
      checks = validation_options
      return nil unless checks.empty? || (checks.size == 1 && checks.key?(:is))
      types = []
      return nil if checks.key?(:is) && [checks[:is]].flatten(1).compact.empty?
      [checks[:is]].flatten(1).each do |t|
        case t
        when nil then next
        when true then types << TrueClass
        when false then types << FalseClass
        when Class then types << t
        else return nil
        end
      end
      types
    end

    def refuse_block(resource)
      raise "Property `#{name}` of `#{resource}` was incorrectly passed a block. Possible property-resource " \
        "collision. To call a resource named `#{name}` either rename the property or else use `declare_resource(:" \
        "#{name}, ...)`"
    end

    def validate(resource, value)
      return if value.nil? && !@has_default
      # As in the original, a message of its own is known to the first that is checked only.
      @first = resource || self if @message && @first.nil?
      message = @message if @first.equal?(resource)
      @checks ||= validation_options.to_a
      @checks.each do |check, arg|
        if check == :is
          check_is(resource, value, arg, message)
        else
          Chef::Mixin::ParamsValidate.run_check(resource, @name || :property_type, value, check, arg, message)
        end
      end
    end

    def coerce_and_validate(resource, value)
      value = run_in(resource, @coerce, value) if @coerce && !value.nil?
      validate(resource, value)
      value
    end

    private

    def check_is(resource, value, types, message)
      if types.is_a?(Array)
        types.each do |t|
          return if t.is_a?(Class) ? t === value : false
        end
      elsif types.is_a?(Class)
        return if types === value
      end
      Chef::Mixin::ParamsValidate.run_check(resource, @name || :property_type, value, :is, types, message)
    end

    def action_of(resource) = resource.respond_to?(:action) ? resource.action : nil

    def output(resource, value)
      coerce_and_validate(resource, run_in(resource, value))
    end

    def run_in(resource, block, *args)
      unless resource
        raise Chef::Exceptions::CannotValidateStaticallyError, "Cannot validate or coerce without a resource"
      end
      block.arity > args.size ? block.call(resource, *args) : FX.run_in(resource, block, *args)
    end

    def deep_dup(o)
      case o
      when DelayedEvaluator then o
      when Hash
        c = o.dup
        o.each { |k, v| c[k] = deep_dup(v) }
        c
      when Array then o.map { |v| deep_dup(v) }
      when String then o.dup
      else o
      end
    end
  end
end
