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
      def shown = @shown ||= shell_out(tool, "--display", new_resource.link_name).stdout.to_s
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
        converge_by("adding alternative #{told}") do
          out = shell_out(tool, "--install", r.link, r.link_name, r.path, r.priority.to_s)
          raise "failed to add alternative #{told}" unless out.exitstatus == 0
        end
      end

      def action_set
        r = new_resource
        return if shown[/link currently points to (.*)/, 1] == r.path
        converge_by("setting alternative #{r.link_name} #{r.path}") do
          out = shell_out(tool, "--set", r.link_name, r.path)
          raise "failed to set alternative #{r.link_name} #{r.path} \n #{out.stdout.strip}" unless out.exitstatus == 0
        end
      end

      def action_remove
        r = new_resource
        converge_by("removing alternative #{r.link_name} #{r.path}") { shell_out(tool, "--remove", r.link_name, r.path) } if known
      end

      def action_auto
        converge_by("setting auto alternative #{new_resource.link_name}") { shell_out(tool, "--auto", new_resource.link_name) }
      end

      def action_refresh
        converge_by("refreshing alternative #{new_resource.link_name}") { shell_out(tool, "--refresh", new_resource.link_name) }
      end
    end
  end
end
