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
          klass.provides(name.to_sym)
          klass.class_eval(FX.read(path).to_s, path, 1)
          klass.provides(klass.resource_name) if klass.resource_name && klass.resource_name.to_s != name
          klass.chef_camel_name!(name)
          klass
        end
        attr_accessor :run_context, :fx_file_name
        def node = run_context ? run_context.node : nil
        def resource_name(name = NOT_PASSED)
          super
        end
        def chef_camel_name!(name)
          const = FX.camel(name)
          Chef::Resource.const_set(const, self) if const.match?(/\A[A-Z]/) && !Chef::Resource.const_defined?(const, false) && FX.schema(const).nil?
        end
        def attribute(name, **options)
          options = options.transform_keys(&:to_sym)
          options[:is] = options.delete(:kind_of) if options.key?(:kind_of) && !options.key?(:is)
          property(name, **options)
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
        klass.class_eval(FX.read(path).to_s, path, 1)
        const = FX.camel(name)
        Chef::Provider.const_set(const, klass) if const.match?(/\A[A-Z]/) && !Chef::Provider.const_defined?(const, false)
        klass
      end
      def load_current_resource = nil
      def whyrun_supported? = true
    end
  end
end
