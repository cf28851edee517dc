# One resource of the resource API: its state as the provider gets it, and as it should be.
module Puppet
  module ResourceApi
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
        names = @missing.join(", \n    *  ")
        raise Puppet::ResourceError, "The following mandatory attributes were not provided:\n    *  #{names}"
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
          is = rsapi_current_state[name]
          text = "Attempting to change `#{name}` init_only attribute value from `#{is}` to `#{value}`"
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
        unless state.key?(:title)
          return __strict("#{type_definition.name}[#{@title}]#get has not provided a title attribute.")
        end
        parsed = {}
        self.class.title_patterns.each do |regexp, symbols|
          match = regexp.match(state[:title]) or next
          symbols.zip(match.captures).each { |symbol, capture| parsed[symbol[0]] = capture }
          break
        end
        return if parsed == rsapi_title
        differing = type_definition.namevars.reject { |n| parsed[n] == rsapi_title[n] }
        __strict("Namevars which do not match: #{differing.inspect}\n" \
                 "Returned parsed title hash:  #{parsed.inspect}\n" \
                 "Expected hash:               #{rsapi_title.inspect}")
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
