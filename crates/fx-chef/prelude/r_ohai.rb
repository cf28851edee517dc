# ohai: reads the automatic attributes again.
class Chef
  class Provider
    class Ohai < Chef::Provider
      def load_current_resource = true
      def action_reload
        converge_by("re-run ohai and merge results into node attributes") do
          FX.ohai.each { |k, v| node.automatic[k] = v }
        end
      end
    end
  end
end
