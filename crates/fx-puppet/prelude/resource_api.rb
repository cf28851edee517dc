# Types of the resource API: a table of attributes becomes a type, and one provider object for
# each type gets and sets plain hashes. Transports to devices are not there.
module Puppet
  module ResourceApi
    DEFINITIONS = {}
    FEATURES = %w[supports_noop canonicalize custom_insync remote_resource simple_get_filter custom_generate].freeze
    RESERVED = %i[title provider alias audit before consume export loglevel noop notify require schedule stage subscribe tag].freeze

    # What is said of values that do not fit their types.
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
        raise Puppet::DevError, "`#{name}.#{key}` must be a hash, not `#{attributes.class}`" unless attributes.is_a?(Hash)
        attributes.each do |attribute, options|
          raise Puppet::DevError, "`#{name}.#{attribute}` must be a Hash, not a #{options.class}" unless options.is_a?(Hash)
          raise Puppet::DevError, "`#{name}.#{attribute}` has no type" unless options.key?(:type)
          next unless options[:behavior]
          raise Puppet::DevError, "the '#{attribute}' attribute has both a `behavior` and a `behaviour`, only use one" if options[:behaviour]
          options[:behaviour] = options.delete(:behavior)
        end
      end
      def name = definition[:name]
      def namevars = @namevars ||= attributes.select { |_, o| o[:behaviour] == :namevar }.keys
      def insyncable_attributes = @insyncable_attributes ||= attributes.reject { |_, o| o.key?(:behaviour) }.keys
      def type_of(attribute) = @types[attribute] ||= DataTypeHandling.parse_puppet_type(attribute, attributes[attribute][:type])
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
          raise Puppet::ResourceError, "`#{name}.get` did not return a value for the `#{n}` namevar attribute" if resource[n].nil?
        end
        unknown, bad = check_schema_keys(resource), check_schema_values(resource)
        return if unknown.empty? && bad.empty?
        message = "#{prefix || "Provider returned data that does not match the Type Schema"} for `#{name}[#{resource[namevars.first]}]`"
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

    # What a provider is given to speak through.
    class BaseContext
      attr_reader :type
      def initialize(definition) = @type = definition.is_a?(Hash) ? TypeDefinition.new(definition) : definition
      def device = raise("Received device() on an unprepared BaseContext. Use a PuppetContext instead.")
      def transport = raise("No transport available.")
      def failed? = @failed
      def reset_failed = @failed = false
      def feature_support?(feature) = type.feature?(feature)
      %i[debug info notice warning err].each do |level|
        define_method(level) do |*args|
          text = case args.length
                 when 1 then "#{@context || @type.name}: #{args.last}"
                 when 2 then "#{format_titles(args.first)}: #{args.last}"
                 else args.map(&:to_s).join(", ")
                 end
          send_log(level, text)
        end
      end
      %i[creating updating deleting].each do |method|
        define_method(method) do |titles, message: method.to_s.capitalize, &block|
          __timed(titles, message, -> { debug("Start") }, ->(took) { notice("Finished in #{took} seconds") }, "Failed after", &block)
        end
      end
      def failing(titles, message: "Failing", &block)
        __timed(titles, message, -> { debug("Start") }, ->(took) { warning("Finished failing in #{took} seconds") }, "Failed after", &block)
      end
      def processing(title, is, should, message = "Processing", &block)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        __timed(title, message, -> { debug("Starting processing of #{title} from #{is} to #{should}") },
                ->(took) { notice("Finished processing #{title} in #{took} seconds: #{should}") }, "Failed processing #{title} after", &block)
      end
      def __timed(titles, message, start, finish, failed)
        started = Time.now
        setup_context(titles, message)
        start.call
        yield
        finish.call(format_seconds(Time.now - started))
      rescue StandardError => e
        log_exception(e, message: "#{failed} #{format_seconds(Time.now - started)} seconds")
        @failed = true
      ensure
        @context = nil
      end
      %i[created updated deleted].each do |method|
        define_method(method) { |titles, message: method.to_s.capitalize| notice("#{message}: #{titles}") }
      end
      def processed(title, is, should)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        notice("Processed #{title} from #{is} to #{should}")
      end
      def attribute_changed(title, attribute, is, should, message: nil)
        raise "#{__method__} only accepts a single resource title" if title.respond_to?(:each)
        is, should = [is, should].map { |v| v ? (v.is_a?(Numeric) ? v : "'#{v}'") : "nil" }
        notice("#{title}: attribute '#{attribute}' changed from #{is} to #{should}#{message ? ": #{message}" : ""}")
      end
      def failed(titles, message: "Updating has failed")
        setup_context(titles)
        err(message)
      ensure
        @context = nil
      end
      def log_exception(exception, message: "Error encountered", trace: false)
        text = "#{message}: #{exception}"
        text += "\n#{exception.backtrace.join("\n")}" if trace
        err(text)
      end
      def send_log(_level, _message) = raise("Received send_log() on an unprepared BaseContext. Use IOContext, or PuppetContext instead.")
      private
      def format_titles(titles) = titles.empty? && !titles.is_a?(String) ? @type.name : "#{@type.name}[#{[titles].flatten.compact.join(", ")}]"
      def setup_context(titles, message = nil)
        @context = format_titles(titles)
        @context += ": #{message}" if message
      end
      def format_seconds(seconds) = Kernel.format(seconds < 1 ? "%.6f" : "%.2f", seconds)
    end

    class PuppetContext < BaseContext
      def device = raise("no device configured")
      def transport = device.transport
      protected
      def send_log(level, message) = Puppet.send(level, message)
    end

    class SimpleProvider
      def set(context, changes)
        namevars = context.type.namevars
        changes.each do |name, change|
          is = change.fetch(:is) do
            found = context.type.feature?("simple_get_filter") ? get(context, [name]) : get(context)
            (found || []).find { |r| SimpleProvider.build_name(namevars, r) == name }
          end
          context.type.check_schema(is) if is && !change.key?(:is)
          should = change[:should]
          raise "SimpleProvider cannot be used with a Type that is not ensurable" unless context.type.ensurable?
          is_there = is.nil? ? "absent" : is[:ensure].to_s
          be_there = should.nil? ? "absent" : should[:ensure].to_s
          given = namevars.length > 1 ? namevars.to_h { |n| [n, should[n]] } : name
          if is_there == "absent" && be_there == "present"
            context.creating(name) { create(context, given, should) }
          elsif is_there == "present" && be_there == "absent"
            context.deleting(name) { delete(context, given) }
          elsif is_there == "present"
            context.updating(name) { update(context, given, should) }
          end
        end
      end
      def create(_context, _name, _should) = raise("#{self.class} has not implemented `create`")
      def update(_context, _name, _should) = raise("#{self.class} has not implemented `update`")
      def delete(_context, _name) = raise("#{self.class} has not implemented `delete`")
      def self.build_name(namevars, resource) = namevars.size > 1 ? namevars.to_h { |n| [n, resource[n]] } : resource[namevars[0]]
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
          __rsapi_attribute(:rsapi_custom_insync_trigger, type: "Enum[do_not_specify_in_manifest]", default: "do_not_specify_in_manifest")
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
          raise Puppet::DevError, "No insync? method defined in the provider; an insync? method must be defined if the custom_insync feature is defined for the type"
        end
        @__message = "Custom insync logic determined that this resource is out of sync" if name == :rsapi_custom_insync_trigger
        result, message = provider.insync?(resource.context, resource.rsapi_title, name, resource.rsapi_current_state, resource.rsapi_canonicalized_target_state)
        @__message = message unless result.nil? || message.nil? || message.empty?
        case result
        when nil then name == :ensure ? rs_value.to_s == is.to_s : __same?(is)
        when true, false then result
        else raise Puppet::DevError, "Custom insync for #{name} returned a #{result.class} with a value of #{result.inspect} instead of true/false; insync? MUST return nil or the boolean true or false"
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
          define_singleton_method(:data_type) { @data_type ||= DataTypeHandling.parse_puppet_type(name, options[:type]) }
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
        found = found.select { |one| one.title == title }.then { |f| f.empty? ? [new(title: title).tap(&:retrieve)] : f } if title
        found.sort_by { |one| one.title.to_s }.map { |one| [one.title.to_s, one.__manifest] }
      end
    end

    module ResourceMethods
      def type_definition = self.class.type_definition
      def my_provider = self.class.my_provider
      def context = self.class.context
      def __unpack? = @__unpack || Puppet::Bridge.alone?
      def initialize(given)
        sensitive = []
        if given.is_a?(Puppet::Resource)
          @title, @catalog, @file, @line = given.title, given.catalog, given.file, given.line
          sensitive = given.sensitive_parameters
          given = given.to_hash.transform_keys { |k| k.to_s.to_sym }
        else
          @__found = true
          given = given.dup
        end
        sensitive.each do |name|
          value = given[name.to_sym]
          next if value.nil? || value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
          given[name.to_sym] = Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
        end
        given = my_provider.canonicalize(context, [given])[0] if type_definition.feature?("canonicalize")
        given[:title] = @title if given[:title].nil?
        super(given)
      end
      def name = title
      def validate
        @missing = []
        return if @__found
        wanted = type_definition.attributes.select do |name, options|
          next if %i[read_only namevar].include?(options[:behaviour])
          next if type_definition.ensurable? && self[:ensure].to_s == "absent" && options[:behaviour].nil?
          self[name].nil? && !type_definition.type_of(name).is_a?(Puppet::Pops::Types::POptionalType)
        end
        parameters = wanted.select { |_, options| options[:behaviour] == :parameter }.keys
        @missing = wanted.keys - [:ensure]
        return if parameters.empty?
        text = "The following mandatory parameters were not provided:\n    *  #{parameters.join(", \n    *  ")}"
        raise Puppet::ResourceError, "Validation of #{ref} failed: #{text}"
      end
      def raise_missing_attrs
        return if @missing.nil? || @missing.empty? || self[:ensure].nil? || self[:ensure] == :absent
        raise Puppet::ResourceError, "The following mandatory attributes were not provided:\n    *  #{@missing.join(", \n    *  ")}"
      end
      def rsapi_title = @rsapi_title ||= self.class.build_title(self)
      def rsapi_canonicalized_target_state
        @target ||= begin
          state = @params.select { |k, _| type_definition.attributes.key?(k) }.transform_values(&:rs_value)
          type_definition.feature?("canonicalize") ? my_provider.canonicalize(context, [state]).first : state
        end
      end
      def rsapi_current_state
        return @current if @current
        known = self.class.__states[rsapi_title]
        strict_check(known) if known
        @current = known
      end
      def rsapi_current_state=(state)
        self.class.__states[rsapi_title] = state
        @current = state
      end
      def cache_current_state(state)
        self.rsapi_current_state = state
        strict_check(state)
      end
      def namevar_match?(state) = type_definition.namevars.all? { |n| state[n] == self[n] }
      def refresh_current_state
        state = self.class.rsapi_provider_get([rsapi_title]).find { |one| namevar_match?(one) }
        if state
          type_definition.check_schema(state)
          strict_check(state)
        else
          state = rsapi_title.is_a?(Hash) ? rsapi_title.dup : { title: rsapi_title }
          state[:ensure] = :absent if type_definition.ensurable?
        end
        self.rsapi_current_state = state
      end
      def retrieve
        refresh_current_state unless rsapi_current_state
        Puppet.debug("Current State: #{rsapi_current_state.inspect}")
        raise_missing_attrs
        is = rsapi_current_state.dup
        is[:ensure] = is[:ensure].to_sym if is[:ensure].is_a?(String)
        is
      end
      def flush
        raise_missing_attrs
        target = rsapi_canonicalized_target_state
        retrieve unless rsapi_current_state
        return if rsapi_current_state == target
        Puppet.debug("Target State: #{target.inspect}")
        __check_init_only(target)
        change = { rsapi_title => { is: rsapi_current_state, should: target } }
        if type_definition.feature?("supports_noop")
          my_provider.set(context, change, noop: noop?)
        else
          my_provider.set(context, change) unless noop?
        end
        if context.failed?
          context.reset_failed
          raise "Execution encountered an error"
        end
        self.rsapi_current_state = target
      end
      def __check_init_only(target)
        return unless [rsapi_current_state, target].all? { |state| state[:ensure].to_s == "present" }
        target.each do |name, value|
          next unless type_definition.attributes[name][:behaviour] == :init_only && value != rsapi_current_state[name]
          text = "Attempting to change `#{name}` init_only attribute value from `#{rsapi_current_state[name]}` to `#{value}`"
          case Puppet[:strict].to_s
          when "warning" then Puppet.warning(text)
          when "error" then raise Puppet::ResourceError, text
          end
        end
      end
      def strict_check(state)
        return if Puppet[:strict].to_s == "off"
        if type_definition.feature?("canonicalize")
          canonical = my_provider.canonicalize(context, [Marshal.load(Marshal.dump(state))]).first
          if canonical && canonical != state
            __strict("Returned values:       #{state.inspect}\nCanonicalized values:  #{canonical.inspect}")
          end
        end
        return unless type_definition.namevars.size > 1 && !type_definition.title_patterns.empty?
        return __strict("#{type_definition.name}[#{@title}]#get has not provided a title attribute.") unless state.key?(:title)
        parsed = {}
        self.class.title_patterns.each do |regexp, symbols|
          match = regexp.match(state[:title]) or next
          symbols.zip(match.captures).each { |symbol, capture| parsed[symbol[0]] = capture }
          break
        end
        return if parsed == rsapi_title
        differing = type_definition.namevars.reject { |n| parsed[n] == rsapi_title[n] }
        __strict("Namevars which do not match: #{differing.inspect}\nReturned parsed title hash:  #{parsed.inspect}\nExpected hash:               #{rsapi_title.inspect}")
      end
      def __strict(message)
        case Puppet[:strict].to_s
        when "warning" then Puppet.warning(message)
        when "error" then raise Puppet::DevError, message
        end
      end
      # As `puppet resource` shows it: what was found, and parameters that have defaults.
      def __manifest
        state = rsapi_current_state.dup
        @params.each { |k, p| state[k] = p.rs_value if p.is_a?(Parameter) && !state.key?(k) && !p.rs_value.nil? }
        keys = state.keys.select { |k| type_definition.attributes.key?(k) && !state[k].nil? }
        keys.reject! { |k| k == type_definition.namevars[0] } if type_definition.namevars.size == 1
        rows = keys.map do |k|
          start, finish = type_definition.attributes[k][:behaviour] == :read_only ? ["#", " # Read Only"] : [" ", ""]
          value = k == :ensure ? state[k].to_s : state[k]
          "#{start} #{k} => #{Puppet::Parameter.format_value_for_display(value)},#{finish}\n"
        end
        "#{type_definition.name} { #{Puppet::Parameter.format_value_for_display(title)}: \n#{rows.join}}\n"
      end
      def __runs_commands? = true
    end
  end
end
