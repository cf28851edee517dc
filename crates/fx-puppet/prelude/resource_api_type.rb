# Types of the resource API as types like all others: their attributes, and what is called of them.
module Puppet
  module ResourceApi
    # What all attributes have in common: a value is kept as it is once it fits its type.
    module Attribute
      def rs_value = @rs_value
      def __take(value)
        options = resource.type_definition.attributes[name] || {}
        if options[:behaviour] == :read_only
          raise Puppet::ResourceError, "Attempting to set `#{name}` read_only attribute value to `#{value}`"
        end
        value = value.to_s if name == :ensure
        type = self.class.data_type
        @rs_value = DataTypeHandling.mungify(type, value, "#{resource.class.name}.#{name}", resource.__unpack?)
      end
    end
    class Parameter < Puppet::Parameter
      include Attribute
      def value = @rs_value
      def value=(v)
        __take(v)
      end
    end
    class ReadOnlyParameter < Parameter; end
    class Property < Puppet::Property
      include Attribute
      def value = should
      def should=(v)
        @shouldorig = v
        @should = [__take(v)]
      end
      def should
        return rs_value.to_sym if name == :ensure && rs_value.is_a?(String)
        rs_value == true ? :true : rs_value == false ? :false : rs_value
      end
      def set(_value) = nil
      def sync = nil
      def insync?(is)
        unless resource.type_definition.feature?("custom_insync")
          return rs_value.to_s == is.to_s if name == :ensure
          return __same?(is)
        end
        provider = resource.my_provider
        unless provider.respond_to?(:insync?)
          raise Puppet::DevError, "No insync? method defined in the provider; an insync? method must be defined " \
                                  "if the custom_insync feature is defined for the type"
        end
        if name == :rsapi_custom_insync_trigger
          @__message = "Custom insync logic determined that this resource is out of sync"
        end
        current, target = resource.rsapi_current_state, resource.rsapi_canonicalized_target_state
        result, message = provider.insync?(resource.context, resource.rsapi_title, name, current, target)
        @__message = message unless result.nil? || message.nil? || message.empty?
        case result
        when nil then name == :ensure ? rs_value.to_s == is.to_s : __same?(is)
        when true, false then result
        else
          raise Puppet::DevError, "Custom insync for #{name} returned a #{result.class} with a value of " \
                                  "#{result.inspect} instead of true/false; insync? MUST return nil or the " \
                                  "boolean true or false"
        end
      end
      def __same?(is) = is == rs_value || is == should || is.to_s == should.to_s && !is.is_a?(Array) && !is.is_a?(Hash)
      def change_to_s(current, wanted) = @__message || super
    end

    # What a type offers beside that of every type.
    module TypeMethods
      def type_definition = @type_definition
      def my_provider = @my_provider ||= Puppet::ResourceApi.load_provider(type_definition.name).new
      def context = @context ||= PuppetContext.new(type_definition)
      def __uses_providers? = false
      def __rsapi_attribute(name, options)
        unless [nil, :read_only, :namevar, :parameter, :init_only].include?(options[:behaviour])
          raise Puppet::ResourceError, "`#{options[:behaviour]}` is not a valid behaviour value"
        end
        is_param = %i[parameter namevar read_only].include?(options[:behaviour])
        send(is_param ? :newparam : :newproperty, name.to_sym, parent: is_param ? Parameter : Property) do
          desc "#{options[:desc]} (a #{options[:type]})" if options[:desc]
          isnamevar if options[:behaviour] == :namevar
          define_singleton_method(:data_type) do
            @data_type ||= DataTypeHandling.parse_puppet_type(name, options[:type])
          end
          if options[:behaviour] != :read_only && options.key?(:default)
            value = options[:default]
            defaultto { value.is_a?(Array) || value.is_a?(Hash) ? value.dup : value }
          end
        end
      end
      def title_patterns
        given = type_definition.definition[:title_patterns]
        return [[/(.*)/m, [[type_definition.namevars.first]]]] if given.nil? || given.empty?
        given.map { |one| [Regexp.new(one[:pattern]), Regexp.new(one[:pattern]).names.map { |n| [n.to_sym] }] }
      end
      def build_title(resource)
        names = type_definition.namevars
        names.size > 1 ? names.to_h { |n| [n, resource[n]] } : resource[names[0]]
      end
      def __states = @__states ||= {}
      def rsapi_provider_get(names = nil)
        return __states.values if @__all && names.nil?
        filtered = type_definition.feature?("simple_get_filter")
        found = filtered ? my_provider.get(context, names) : my_provider.get(context)
        found.each { |state| __states[build_title(state)] = state }
        @__all = true if names.nil? && !filtered
        found
      end
      def instances
        rsapi_provider_get.map do |state|
          type_definition.check_schema(state)
          title = state.key?(:title) ? state[:title] : build_title(state)
          new(title: title).tap { |one| one.cache_current_state(state) }
        end
      end
      # All resources, or one, as text of the language.
      def __manifests(title)
        found = instances
        if title
          found = found.select { |one| one.title == title }
          found = [new(title: title).tap(&:retrieve)] if found.empty?
        end
        found.sort_by { |one| one.title.to_s }.map { |one| [one.title.to_s, one.__manifest] }
      end
    end

  end
end
