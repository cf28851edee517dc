# alternatives: which program a generic name stands for, through the machine's tool.
class Chef
  class Resource
    class Alternatives
      property :link, String, default: lazy { |n| "/usr/bin/#{n.link_name}" }
      property :priority, [String, Integer], coerce: proc { |n| n.to_i }
    end
  end
  class Provider
    class Alternatives < Chef::Provider
      def load_current_resource = nil
      def tool = node["platform_family"] == "debian" ? "update-alternatives" : "alternatives"
      def shown = @shown ||= fx_look(tool, "--display", new_resource.link_name).stdout.to_s
      def points_to = shown[/link currently points to (.*)/, 1]
      def about(from, to) = fx_about(:alternatives, new_resource.link_name, path: [from, to])
      def about_priority(from, to)
        fx_about(:alternatives, "#{new_resource.link_name} #{new_resource.path}", priority: [from, to])
      end
      def known = shown[/^#{Regexp.escape(new_resource.path.to_s)} - priority (.*)$/, 1]

      def define_resource_requirements
        r = new_resource
        name = "Could not set alternatives for #{r.link_name}"
        requirements.assert(:install) do |a|
          a.assertion { !r.priority.nil? }
          a.failure_message("#{name}, you must provide the :priority property")
        end
        requirements.assert(:install, :set, :remove) do |a|
          a.assertion { !r.path.nil? }
          a.failure_message("#{name}, you must provide the :path property")
        end
        requirements.assert(:install, :set, :remove) do |a|
          a.assertion { ::File.exist?(r.path) }
          a.whyrun("Assuming file #{r.path} already exists or was created already")
          a.failure_message("#{name}, missing #{r.path}")
        end
      end

      def action_install
        r = new_resource
        return if known && known.to_i == r.priority
        told = "#{r.link} #{r.link_name} #{r.path} #{r.priority}"
        fx_change("adding alternative #{told}", about_priority(known&.to_i, r.priority)) do
          out = shell_out(tool, "--install", r.link, r.link_name, r.path, r.priority.to_s)
          raise "failed to add alternative #{told}" unless out.exitstatus == 0
        end
      end

      def action_set
        r = new_resource
        return if points_to == r.path
        fx_change("setting alternative #{r.link_name} #{r.path}", about(points_to, r.path)) do
          out = shell_out(tool, "--set", r.link_name, r.path)
          raise "failed to set alternative #{r.link_name} #{r.path} \n #{out.stdout.strip}" unless out.exitstatus == 0
        end
      end

      def action_remove
        r = new_resource
        if known
          fx_change("removing alternative #{r.link_name} #{r.path}", about_priority(known.to_i, "absent")) do
            shell_out(tool, "--remove", r.link_name, r.path)
          end
        end
      end

      def action_auto
        fx_change("setting auto alternative #{new_resource.link_name}", about(points_to, "auto")) do
          shell_out(tool, "--auto", new_resource.link_name)
        end
      end

      def action_refresh
        fx_change("refreshing alternative #{new_resource.link_name}", about(points_to, "refreshed")) do
          shell_out(tool, "--refresh", new_resource.link_name)
        end
      end
    end
  end
end
