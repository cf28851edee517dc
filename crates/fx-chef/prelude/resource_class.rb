# The language of resource classes: properties, actions, names, and the classes that ship.
class Chef
  class Resource
    class << self
      def fx_generation = (@@fx_generation ||= 0)

      def properties(include_superclass = true)
        return @properties ||= {} unless include_superclass
        if !@fx_all || @fx_seen != @@fx_generation
          @fx_seen = @@fx_generation
          result = {}
          ancestors.reverse_each { |c| result.merge!(c.properties(false)) if c.respond_to?(:properties) }
          @fx_all = result
        end
        @fx_all
      end

      def property(name, type = NOT_PASSED, **options)
        name = name.to_sym
        options = options.transform_keys(&:to_sym)
        options[:instance_variable_name] = :"@#{name}" unless options.key?(:instance_variable_name)
        options[:name] = name
        options[:declared_in] = self
        if NOT_PASSED.equal?(type)
          prop = properties[name] ? properties[name].derive(**options) : property_type(**options)
        elsif type.is_a?(Property) || (type.is_a?(Class) && type <= Property)
          prop = type.derive(**options)
        else
          options[:is] = options[:is] ? ([type] + [options[:is]]).flatten(1) : type
          prop = property_type(**options)
        end
        fx_add(prop)
      end
      alias attribute property

      def fx_add(prop)
        properties(false)[prop.name] = prop
        @@fx_generation = fx_generation + 1
        prop.emit_dsl
        prop.name
      end

      def property_type(**options) = Property.derive(**options)
      def lazy(&block) = Chef::DelayedEvaluator.new(&block)
      def deprecated_property_alias(from, to, message)
        define_method(from) do |value = NOT_PASSED|
          Chef.deprecated(:property, message)
          NOT_PASSED.equal?(value) ? send(to) : send(to, value)
        end
        define_method(:"#{from}=") do |value|
          Chef.deprecated(:property, message)
          send(to, value)
        end
      end

      def state_properties(*names)
        unless names.empty?
          names = names.map(&:to_sym).uniq
          names.each do |n|
            p = properties[n]
            if !p
              property n, instance_variable_name: false, desired_state: true
            elsif !p.desired_state?
              property n, desired_state: true
            end
          end
          properties(false).each { |n, p| property n, desired_state: false if p.desired_state? && !names.include?(n) }
        end
        properties.values.select(&:desired_state?)
      end
      def state_attrs(*names) = state_properties(*names).map(&:name)

      def identity_properties(*names)
        unless names.empty?
          names = names.map(&:to_sym)
          names.each do |n|
            p = properties[n]
            if !p
              property n, instance_variable_name: false, identity: true
            elsif !p.identity?
              property n, identity: true
            end
          end
          properties.each { |n, p| property n, identity: false if p.identity? && !names.include?(n) }
        end
        result = properties.values.select(&:identity?)
        result = name_property ? [properties[name_property]] : [properties[:name]] if result.empty?
        result
      end
      def identity_property(name = nil) = identity_properties(*Array(name)).first
      def identity_attr(name = nil) = identity_property(name)&.name
      def sensitive_properties = properties.values.select(&:sensitive?)
      # Resources that there is one of need no name.
      def fx_default_name
        p = properties[:name]
        p.options.key?(:default) ? p.default : nil
      end
      def name_property = properties.find { |_, p| p.name_property? }&.first

      def resource_name(name = NOT_PASSED)
        @resource_name = name.to_sym unless NOT_PASSED.equal?(name) || name.nil?
        @resource_name = nil unless defined?(@resource_name)
        @resource_name
      end
      def resource_name=(name)
        resource_name(name)
      end
      def dsl_name = resource_name.to_s
      def use_automatic_resource_name = provides(FX.snake(name.split("::").last))

      def unified_mode(flag = nil)
        @unified_mode = Chef::Config[:resource_unified_mode_default] if !defined?(@unified_mode) || @unified_mode.nil?
        @unified_mode = flag unless flag.nil?
        !!@unified_mode
      end

      def allowed_actions(*actions)
        @allowed_actions ||= superclass.respond_to?(:allowed_actions) ? superclass.allowed_actions.dup : [:nothing]
        @allowed_actions |= actions.flatten unless actions.empty?
        @allowed_actions
      end
      def allowed_actions=(value)
        @allowed_actions = value.uniq
      end
      alias actions allowed_actions

      def default_action(name = NOT_PASSED)
        unless NOT_PASSED.equal?(name)
          @default_action = Array(name).map(&:to_sym)
          self.allowed_actions |= @default_action
        end
        return @default_action if defined?(@default_action) && @default_action
        superclass.respond_to?(:default_action) ? superclass.default_action : NOTHING
      end
      def default_action=(name)
        default_action(name)
      end

      def action(action, description: nil, &block)
        action = action.to_sym
        declare_action_class
        action_class.action(action, description: description, &block)
        self.allowed_actions += [action]
        default_action(action) if Array(default_action) == NOTHING
      end

      def action_class(&block)
        @action_class ||= declare_action_class
        @action_class.class_eval(&block) if block
        @action_class
      end

      def declare_action_class
        @action_class ||= begin
          @fx_custom = true
          @@fx_generation = fx_generation + 1
          base = superclass.custom_resource? ? superclass.action_class : ActionClass
          owner = self
          Class.new(base) { self.resource_class = owner }
        end
      end
      def custom_resource?
        @fx_custom || (superclass.respond_to?(:custom_resource?) && superclass.custom_resource?) || false
      end
      def is_custom_resource! = @fx_custom = true

      def load_current_value(&block) = define_method(:load_current_value!, &block)

      def provides(name, **options, &block)
        name = name.to_sym
        @resource_name = name if resource_name.nil?
        if chef_version_for_provides && !options.include?(:chef_version)
          options[:chef_version] = chef_version_for_provides
        end
        Chef.resource_handler_map.set(name, self, **options, &block)
        Chef::DSL::Resources.add_resource_dsl(name)
        self
      end
      def provides?(node, name) = Chef.resource_handler_map.list(node, name.to_sym).include?(self)
      def chef_version_for_provides(constraint = NOT_PASSED)
        @chef_version_for_provides = constraint unless NOT_PASSED.equal?(constraint)
        @chef_version_for_provides ||= nil
      end
      def preview_resource(value = nil)
        @preview_resource = value unless value.nil?
        @preview_resource || false
      end
      def description(value = nil) = value ? @description = value : @description
      def introduced(value = nil) = value ? @introduced = value : @introduced
      def examples(value = nil) = value ? @examples = value : @examples
      def deprecated(value = nil) = value ? @deprecated = value : @deprecated
      def skip_docs(value = nil) = @skip_docs = value
      def target_mode(*) = nil
      def allowed_via_target_mode(*) = nil
      def resource_matching_short_name(short) = Chef::Resource.resource_for_node(short, Chef.node)
      def resource_for_node(name, node)
        Chef.resource_handler_map.resolve!(node, name.to_sym)
      end
      def provides_names = Chef.resource_handler_map.names_of(self)

      def use(partial)
        beside = FX.here.sub(/:\d+(:in .*)?\z/, "")
        beside = "#{Chef::CHEF_ROOT}/chef/resource/core.rb" if partial.to_s.start_with?("core::")
        partial = partial.to_s.delete_prefix("core::")
        path = ::File.expand_path(
          "#{::File.dirname(partial)}/_#{::File.basename(partial, ".rb").delete_prefix("_")}.rb",
          ::File.dirname(beside))
        ::File.open(path).close unless FX.file?(path)
        FX.eval_file(path, self, true)
      end

      def inherited(child)
        super
        (@@fx_descendants ||= []) << child
      end
      def descendants = (@@fx_descendants ||= []).select { |c| c < self }
      alias resource_classes descendants

      def const_missing(name)
        fx_builtin(name) || super
      end

      # Builds a built-in class from the table of properties, with its provider's file.
      def fx_builtin(name)
        return nil unless equal?(Chef::Resource) || self.name&.start_with?("Chef::Resource")
        prefix = self.name.delete_prefix("Chef::Resource").delete_prefix("::")
        full = prefix.empty? ? name.to_s : "#{prefix}::#{name}"
        schema = FX.schema(full)
        return nil unless schema
        parent, rname, actions, default, props, aliases = schema
        base = parent.empty? ? Chef::Resource : parent.split("::").inject(Chef::Resource) do |m, c|
          m.const_get(c, false)
        end
        base = Chef::Resource if base.nil?
        klass = Class.new(base)
        const_set(name, klass)
        klass.fx_setup(rname, actions, default, props)
        aliases.each { |other, property| klass.define_method(other) { |*args| send(property, *args) } }
        FX.load("chef/r_#{FX.snake(full.gsub("::", "_"))}.rb")
        klass
      end

      def fx_setup(rname, actions, default, props)
        @resource_name = rname.to_sym unless rname.empty?
        @allowed_actions = [:nothing] | actions
        @default_action = default unless default == NOTHING
        props.each do |name, options|
          options[:instance_variable_name] = :"@#{name}"
          options[:name] = name
          options[:declared_in] = self
          options.delete(:coerce)
          options[:instance_variable_name] = false if options.size == 4 && options[:desired_state] == true
          lazy = options[:default].equal?(:"<lazy>") || options[:default] == "<lazy>"
          options.delete(:default) if lazy
          fx_add(Property.new(**options))
        end
        @fx_builtin = true
        @unified_mode = true
      end
      def fx_builtin? = @fx_builtin || false
    end
    @@fx_generation = 0
  end
end
