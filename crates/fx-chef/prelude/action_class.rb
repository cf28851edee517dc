# What the actions of a custom resource run in.
class Chef
  class Resource
    class ActionClass < Chef::Provider
      class << self
        attr_accessor :resource_class
        def to_s = "#{resource_class} action provider"
        def inspect = to_s
        def include_resource_dsl? = true
      end
      def to_s = new_resource.to_s
      def inspect = "#<#{self.class} #{new_resource}>"

      def load_current_resource
        @current_resource = nil
        return unless new_resource.respond_to?(:load_current_value!)
        @current_resource = fx_load
      end

      def fx_load
        res = new_resource.class.new(new_resource.name, new_resource.run_context)
        new_resource.class.properties.each_value do |p|
          next if p.name == :name || !p.is_set?(new_resource)
          next unless p.identity? || !p.desired_state?
          if p.instance_variable_name
            res.instance_variable_set(
              p.instance_variable_name, new_resource.instance_variable_get(p.instance_variable_name))
          end
        end
        if res.method(:load_current_value!).arity > 0
          res.load_current_value!(new_resource)
        else
          res.load_current_value!
        end
        res
      rescue Chef::Exceptions::CurrentValueDoesNotExist
        @fx_partly = res
        nil
      end

      def return_load_current_value = fx_load
      def load_after_resource = nil

      # Methods of the resource's own file are there for its actions as well.
      def method_missing(name, *args, **kw, &block)
        if !Chef::DSL::Resources.known?(name) && new_resource.respond_to?(name) &&
          !new_resource.class.properties.key?(name)
          return new_resource.send(name, *args, **kw, &block)
        end
        super
      end
      # Resources inside an action look here for what their blocks call.
      def respond_to_missing?(name, priv = false)
        klass = new_resource.class
        klass.method_defined?(name) && !Chef::Resource.method_defined?(name) &&
          !klass.properties.key?(name.to_s.chomp("=").to_sym) || super
      end
    end
  end
end
