# Checks of values against a map of rules, as properties and old attributes use them.
class Chef
  module Mixin
    module ParamsValidate
      def self.fail!(message, text)
        raise Chef::Exceptions::ValidationFailed, message || text
      end

      # A value as it is shown: not at all where the resource or the property is sensitive.
      def self.told(resource, key, value)
        secret = resource.respond_to?(:fx_secret?) &&
          (resource.fx_secret? || resource.class.properties[key.to_sym]&.sensitive?)
        secret ? "[sensitive]" : value
      end

      def self.run_check(resource, key, value, check, arg, message = nil)
        case check
        when :is then is(resource, key, value, arg, message)
        when :kind_of
          return if value.nil?
          to_be = Array(arg)
          return if to_be.any? { |t| value.is_a?(t) }
          fail!(message, "Option #{key} must be a kind of #{to_be}!  You passed #{told(resource, key, value.inspect)}.")
        when :equal_to
          return if value.nil?
          to_be = Array(arg)
          return if to_be.any? { |t| value == t }
          fail!(message, "Option #{key} must be equal to one of: #{to_be.map(&:inspect).join(", ")}!  You passed " \
            "#{told(resource, key, value.inspect)}.")
        when :regex
          return if value.nil?
          return if Array(arg).flatten.any? { |r| r.match(value.to_s) }
          fail!(message, "Property #{key}'s value #{told(resource, key, value)} does not match regular expression " \
            "#{arg.inspect}")
        when :callbacks
          raise ArgumentError, "Callback list must be a hash!" unless arg.is_a?(Hash)
          return if value.nil?
          arg.each do |text, block|
            fail!(message, "Option #{key}'s value #{told(resource, key, value)} #{text}!") unless block.call(value)
          end
        when :respond_to
          return if value.nil?
          Array(arg).each { |m| fail!(message, "Option #{key} must have a #{m} method!") unless value.respond_to?(m) }
        when :cannot_be
          return if value.nil?
          Array(arg).each do |m|
            fail!(message, "Option #{key} cannot be #{arg}") if value.respond_to?(:"#{m}?") && value.send(:"#{m}?")
          end
        when :required
          fail!(message, "Required argument #{key.inspect} is missing!") if arg && value.nil?
        when :default, :name_property, :name_attribute, :coerce, :desired_state, :identity, :sensitive, :description,
          :introduced, :default_description, :deprecated
          nil
        else raise ArgumentError, "Validation map has unknown check: #{check}"
        end
      end

      def self.is(resource, key, value, arg, message)
        to_be = [arg].flatten(1)
        errors = []
        passed = to_be.any? do |t|
          case t
          when Proc
            unless resource
              raise Chef::Exceptions::CannotValidateStaticallyError,
                "is: proc { } must be evaluated once for each resource"
            end
            resource.instance_exec(value, &t)
          when Property
            begin
              t.validate(resource, value)
              true
            rescue Chef::Exceptions::ValidationFailed => e
              raise if to_be.size == 1
              errors << e
              false
            end
          else t === value
          end
        end
        return if passed
        text = "Property #{key} must be one of: #{to_be.map(&:inspect).join(", ")}!  You passed " \
          "#{told(resource, key, value.inspect)}."
        text += " Errors:\n#{errors.map { |m| "- #{m}" }.join("\n")}" unless errors.empty?
        fail!(message, text)
      end

      def validate(opts, map)
        map = map.validation_options if map.is_a?(Property)
        raise ArgumentError, "Options must be a hash" unless opts.is_a?(Hash)
        raise ArgumentError, "Validation Map must be a hash" unless map.is_a?(Hash)
        map.each do |key, rules|
          value = opts.key?(key.to_s) ? opts[key.to_s] : opts[key.to_sym]
          case rules
          when true then ParamsValidate.run_check(self, key, value, :required, true)
          when Hash
            rules.each do |check, arg|
              if check == :default
                opts[key] = arg if value.nil?
              elsif check != :validation_message
                ParamsValidate.run_check(self, key, value, check, arg, rules[:validation_message])
              end
            end
          end
        end
        opts
      end

      def lazy(&block) = Chef::DelayedEvaluator.new(&block)

      def set_or_return(symbol, value, validation)
        ivar = :"@#{symbol}"
        unless value.nil? || NOT_PASSED.equal?(value)
          unless value.is_a?(Chef::DelayedEvaluator)
            value = validate({ symbol => value },
              { symbol => validation.reject { |k, _| %i{default required name_attribute name_property}.include?(k) } })[
              symbol]
          end
          return instance_variable_set(ivar, value)
        end
        if instance_variable_defined?(ivar) && !(v = instance_variable_get(ivar)).nil?
          if v.is_a?(Chef::DelayedEvaluator)
            v = validate({ symbol => v.arity > 0 ? v.call(self) : instance_eval(&v) },
              { symbol => validation.reject { |k, _| k == :default } })[symbol]
          end
          return v
        end
        if validation.key?(:default)
          d = validation[:default]
          return d.is_a?(Chef::DelayedEvaluator) ? instance_eval(&d) : instance_variable_set(ivar, d.dup)
        end
        return instance_variable_set(ivar, name) if validation[:name_attribute] || validation[:name_property]
        if validation[:required]
          raise Chef::Exceptions::ValidationFailed, "Required argument #{symbol.inspect} is missing!"
        end
        nil
      end
    end
  end
end
