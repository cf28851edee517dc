# Types of the resource API: a table of attributes becomes a type, and one provider object for
# each type gets and sets plain hashes. Transports to devices are not there.
module Puppet
  module ResourceApi
    DEFINITIONS = {}
    FEATURES = %w[supports_noop canonicalize custom_insync remote_resource simple_get_filter custom_generate].freeze
    RESERVED = %i[
      title provider alias audit before consume export loglevel noop notify require schedule stage subscribe tag
    ].freeze

    # Values against their types, and the messages of those that do not fit.
    module DataTypeHandling
      def self.parse_puppet_type(attribute, type)
        Puppet::Pops::Types::TypeParser.singleton.parse(type)
      rescue Puppet::ParseError => e
        raise Puppet::DevError, "The type of the `#{attribute}` attribute `#{type}` is not recognised: #{e.message}"
      end
      def self.try_validate(type, value, prefix)
        return nil if type.instance?(value)
        found = Puppet::Pops::Types::TypeCalculator.infer_set(value)
        Puppet::Pops::Types::TypeMismatchDescriber.singleton.describe_mismatch(prefix, type, found)
      end
      def self.validate(type, value, prefix)
        message = try_validate(type, value, prefix)
        raise Puppet::ResourceError, message if message
      end
      def self.mungify(type, value, prefix, unpack = false)
        value = unpack ? unpacked(type, value) : plain(value)
        validate(type, value, prefix)
        value
      end
      def self.plain(value) = value == :true ? true : value == :false ? false : value
      # Words of a command line have no types of their own.
      def self.unpacked(type, value)
        return value.map { |v| unpacked(nil, v) } if value.is_a?(Array)
        return value if type && type.instance?(value)
        candidates = case value.to_s
                     when "true" then [true]
                     when "false" then [false]
                     when /\A-?\d+\z/ then [value.to_s.to_i]
                     when /\A-?\d+\.\d+\z/ then [value.to_s.to_f]
                     else []
                     end
        candidates << value.to_s if value.is_a?(Symbol)
        candidates.find { |c| type.nil? || type.instance?(c) } || value
      end
    end

    class BaseTypeDefinition
      attr_reader :definition, :attributes
      def initialize(definition, key)
        raise Puppet::DevError, "#{self.class} must be a Hash, not `#{definition.class}`" unless definition.is_a?(Hash)
        raise Puppet::DevError, "#{self.class} must have a name" unless definition.key?(:name)
        raise Puppet::DevError, "#{self.class} must have `#{key}`" unless definition.key?(key)
        @definition, @attributes, @types = definition, definition[key], {}
        unless attributes.is_a?(Hash)
          raise Puppet::DevError, "`#{name}.#{key}` must be a hash, not `#{attributes.class}`"
        end
        attributes.each do |attribute, options|
          unless options.is_a?(Hash)
            raise Puppet::DevError, "`#{name}.#{attribute}` must be a Hash, not a #{options.class}"
          end
          raise Puppet::DevError, "`#{name}.#{attribute}` has no type" unless options.key?(:type)
          next unless options[:behavior]
          if options[:behaviour]
            raise Puppet::DevError,
                  "the '#{attribute}' attribute has both a `behavior` and a `behaviour`, only use one"
          end
          options[:behaviour] = options.delete(:behavior)
        end
      end
      def name = definition[:name]
      def namevars = @namevars ||= attributes.select { |_, o| o[:behaviour] == :namevar }.keys
      def insyncable_attributes = @insyncable_attributes ||= attributes.reject { |_, o| o.key?(:behaviour) }.keys
      def type_of(attribute)
        @types[attribute] ||= DataTypeHandling.parse_puppet_type(attribute, attributes[attribute][:type])
      end
      def check_schema_keys(resource) = resource.keys.reject { |k| k == :title || attributes.key?(k) }
      def check_schema_values(resource)
        resource.each_with_object({}) do |(key, value), bad|
          next unless attributes[key]
          message = DataTypeHandling.try_validate(type_of(key), value, "") or next
          bad[key] = attributes[key][:sensitive] == true ? "<< redacted value >> #{message}" : "#{value} (#{message})"
        end
      end
      def check_schema(resource, prefix = nil)
        namevars.each do |n|
          next unless resource[n].nil?
          raise Puppet::ResourceError, "`#{name}.get` did not return a value for the `#{n}` namevar attribute"
        end
        unknown, bad = check_schema_keys(resource), check_schema_values(resource)
        return if unknown.empty? && bad.empty?
        prefix ||= "Provider returned data that does not match the Type Schema"
        message = "#{prefix} for `#{name}[#{resource[namevars.first]}]`"
        message += "\n Unknown attribute:\n#{unknown.map { |k| "    * #{k}\n" }.join}" unless unknown.empty?
        message += "\n Value type mismatch:\n#{bad.map { |k, v| "    * #{k}: #{v}\n" }.join}" unless bad.empty?
        notify_schema_errors(message)
      end
      def notify_schema_errors(message)
        case Puppet[:strict].to_s
        when "off" then Puppet.debug(message)
        when "error" then raise Puppet::DevError, message
        else Puppet.warning(message)
        end
      end
    end

    class TypeDefinition < BaseTypeDefinition
      def initialize(definition)
        super(definition, :attributes)
        taken = RESERVED.find { |n| attributes.key?(n) }
        raise Puppet::DevError, "must not define an attribute called `#{taken.inspect}`" if taken
        definition[:desc] = definition.delete(:docs) if definition.key?(:docs) && !definition[:desc]
        definition[:features] ||= []
        unknown = definition[:features] - FEATURES
        Puppet.warning("Unknown feature detected: #{unknown.inspect}") unless unknown.empty?
      end
      def ensurable? = attributes.key?(:ensure)
      def feature?(feature) = definition[:features].include?(feature)
      def title_patterns = definition[:title_patterns] ||= []
    end

    class TransportSchemaDef < BaseTypeDefinition
      def initialize(definition) = super(definition, :connection_info)
    end

    def self.class_name_from_type_name(name) = name.to_s.split("_").map(&:capitalize).join
    def self.load_provider(name)
      scope = class_name_from_type_name(name)
      Puppet::Bridge.load_provider(name.to_s, name.to_s)
      Puppet::Provider.const_get(scope).const_get(scope)
    rescue NameError
      raise Puppet::DevError, "class Puppet::Provider::#{scope}::#{scope} not found in puppet/provider/#{name}/#{name}"
    end
    def self.load_default_provider(_class_name, name) = load_provider(name)
    def self.register_transport(*) = nil

    def self.register_type(definition)
      definition_of = TypeDefinition.new(definition)
      DEFINITIONS[definition[:name].to_s] = definition
      scope = class_name_from_type_name(definition[:name])
      Puppet::Provider.const_set(scope, ::Module.new) unless Puppet::Provider.const_defined?(scope, false)
      Puppet::Type.newtype(definition[:name].to_sym) do
        desc definition[:desc]
        @type_definition = definition_of
        extend TypeMethods
        include ResourceMethods
        if definition_of.feature?("custom_insync") && definition_of.insyncable_attributes.empty?
          __rsapi_attribute(:rsapi_custom_insync_trigger,
                            type: "Enum[do_not_specify_in_manifest]", default: "do_not_specify_in_manifest")
        end
        definition[:attributes].each { |name, options| __rsapi_attribute(name, options) }
        %i[autorequire autobefore autosubscribe autonotify].each do |auto|
          (definition[auto] || {}).each do |type, values|
            send(auto, type.to_s.downcase.to_sym) do
              [values].flatten.map { |v| v.is_a?(String) && v =~ /\A\$(.*)\Z/ ? self[$1.to_sym] : v }.flatten.compact
            end
          end
        end
      end
    end

  end
end
%w[resource_api_provider resource_api_type resource_api_resource].each { |name| Puppet::Bridge.part(name) }
