# chef_handler: brings a handler into the run.
class Chef
  class Provider
    class ChefHandler < Chef::Provider
      def load_current_resource = nil
      def kinds
        new_resource.type.select { |_, v| v }.keys.map do |k|
          k.to_s == "report" ? :report_handlers : k.to_s == "exception" ? :exception_handlers : :start_handlers
        end
      end
      def action_enable
        r = new_resource
        if r.source && ::File.exist?(r.source)
          fx_change("load #{r.source}", fx_about(:chef_handler, r.class_name, source: [nil, r.source])) do
            Kernel.load(r.source)
          end
        end
        klass = r.class_name.split("::").inject(Object) { |m, n| m.const_get(n) }
        args = r.arguments.is_a?(Hash) ? [r.arguments] : Array(r.arguments)
        kinds.each do |k|
          list = Chef::Config[k]
          list.reject! { |h| h.class.name == r.class_name }
          fx_change("enable #{r.class_name} as a #{k} handler",
            fx_about(:chef_handler, r.class_name, k => [nil, "enabled"])) do
            list << klass.new(*args)
          end
        end
      end
      def action_disable
        r = new_resource
        kinds.each do |k|
          list = Chef::Config[k]
          next unless list.any? { |h| h.class.name == r.class_name }
          fx_change("disable #{r.class_name} as a #{k} handler",
            fx_about(:chef_handler, r.class_name, k => ["enabled", nil])) do
            list.reject! { |h| h.class.name == r.class_name }
          end
        end
      end
    end
  end
end
