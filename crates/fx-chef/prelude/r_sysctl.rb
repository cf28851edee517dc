# sysctl: a kernel parameter, now and at boot.
class Chef
  class Resource
    class Sysctl
      property :value, [Array, String, Integer, Float], coerce: proc { |v| v.is_a?(Array) ? v.join(" ") : v.to_s },
        required: [:apply]

      # Only what the kernel has and the file says alike is there already.
      load_current_value do
        now = fx_look!("sysctl", "-n", "-e", "--", key).stdout.tr("\t", " ").strip
        kept = "/etc/sysctl.d/99-chef-#{key.tr("/", ".")}.conf"
        said = ::File.exist?(kept) && ::File.read(kept)[/(.*) = (.*)/, 2]
        value now
        current_value_does_not_exist! unless now == said
      rescue Mixlib::ShellOut::ShellCommandFailed
        current_value_does_not_exist!
      end

      action_class do
        def kept = "#{new_resource.conf_dir}/99-chef-#{new_resource.key.tr("/", ".")}.conf"
        def load_again(flag = nil)
          execute "Load sysctl values" do
            command flag ? "sysctl -e -p" : "sysctl -p"
            default_env true
          end
        end
      end

      action :apply do
        r = new_resource
        converge_if_changed do
          flag = "-e" if r.ignore_error
          fx_tool!("sysctl", flag, "-w", "--", "#{r.key}=#{r.value}")
          directory r.conf_dir
          text = [*Array(r.comment).map { |c| "# #{c.strip}" }, "#{r.key} = #{r.value}", ""].join("\n")
          file(kept) { content text }
          load_again(flag)
        end
      end

      action :remove do
        if ::File.exist?(kept)
          fx_change("removing sysctl config at #{kept}", fx_about(:file, kept, ensure: %w{file absent})) do
            file(kept) { action :delete }
            load_again
          end
        end
      end
    end
  end
end
