# ohai: reads the automatic attributes again, plug-ins included.
class Chef
  class Provider
    class Ohai < Chef::Provider
      def load_current_resource = true
      def action_reload
        name = new_resource.plugin
        fx_change("re-run ohai and merge results into node attributes",
          fx_about(:node, node.name, automatic: [nil, name || "all"])) do
          # What a plug-in of a cookbook gives is not one of the machine's own facts.
          own = Chef::Client.fx_plugins? && name && ::Ohai.plugins.values.any? { |p| p.provided.include?(name) }
          Chef::Client.fx_automatic.each { |k, v| node.automatic[k] = v } unless own
          ::Ohai.run(name) if Chef::Client.fx_plugins?
        end
      end
    end
  end
end
