# sysctl: a kernel parameter, now and at boot.
class Chef
  class Resource
    class Sysctl
      property :value, [Array, String, Integer, Float], coerce: proc { |v| v.is_a?(Array) ? v.join(" ") : v.to_s }, required: [:apply]
    end
  end
  class Provider
    class Sysctl < FxComposite
      def file = "#{new_resource.conf_dir}/99-chef-#{new_resource.key.tr("/", ".")}.conf"
      def current
        out = shell_out("sysctl", "-n", "-e", new_resource.key)
        out.exitstatus == 0 ? out.stdout.strip.tr("\t", " ") : nil
      end
      action(:apply) do
        r = new_resource
        if current != r.value.to_s
          lines = Array(r.comment).map { |c| "# #{c.strip}" } + ["#{r.key} = #{r.value}"]
          body = lines.join("\n")
          path = file
          converge_by(["update #{r.key}", "  set value to #{r.value.inspect}"]) do
            shell_out!("sysctl", *(r.ignore_error ? ["-e"] : []), "-w", "#{r.key}=#{r.value}")
          end
          declare_resource(:directory, r.conf_dir)
          declare_resource(:file, path) { content body }
          flag = r.ignore_error ? "-e " : ""
          declare_resource(:execute, "Load sysctl values") { command "sysctl #{flag}-p" }
        end
      end
      action(:remove) do
        path = file
        if ::File.exist?(path)
          declare_resource(:file, path) { action :delete }
          declare_resource(:execute, "Load sysctl values") { command "sysctl -p" }
        end
      end
    end
  end
end
