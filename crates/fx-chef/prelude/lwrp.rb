# Resources and providers of the old two-file form.
class Chef
  class Resource
    class LWRPBase < Chef::Resource
      class << self
        def build_from_file(cookbook, path, run_context)
          short = ::File.basename(path, ".rb")
          name = short == "default" ? cookbook.to_s : "#{cookbook}_#{short}"
          name = name.tr("-", "_")
          klass = Class.new(self)
          klass.fx_file_name = name
          klass.run_context = run_context
          label = "Custom resource #{name} from cookbook #{cookbook}"
          klass.define_singleton_method(:to_s) { label }
          klass.define_singleton_method(:inspect) { label }
          FX.eval_file(path, klass, true)
          if klass.resource_name && !Chef.resource_handler_map.names_of(klass).include?(klass.resource_name)
            klass.provides(klass.resource_name)
          end
          klass.provides(name.to_sym)
          klass
        end
        attr_accessor :run_context, :fx_file_name
        def node = run_context ? run_context.node : nil
        def resource_name(name = NOT_PASSED)
          super
        end
        def actions(*names)
          action_names = names.flatten
          unless action_names.empty?
            self.allowed_actions |= action_names
          end
          allowed_actions
        end
        alias actions= allowed_actions=
        def default_action(name = NOT_PASSED)
          return super if NOT_PASSED.equal?(name)
          super
        end
      end
    end
  end
  class Provider
    module InlineResources; end
    class LWRPBase < Provider
      def self.build_from_file(cookbook, path, run_context)
        short = ::File.basename(path, ".rb")
        name = short == "default" ? cookbook.to_s : "#{cookbook}_#{short}"
        name = name.tr("-", "_")
        klass = Class.new(self)
        Chef::ProviderResolver.by_name_set(name, klass)
        klass.provides(name.to_sym)
        FX.eval_file(path, klass, true)
        const = FX.camel(name)
        if const.match?(/\A[A-Z]/) && !Chef::Provider.const_defined?(const, false)
          Chef::Provider.const_set(const, klass)
        end
        klass
      end
      def load_current_resource = nil
      def whyrun_supported? = true
    end
  end
end
