# mount: a file system, now and at boot.
class Chef
  class Resource
    class Mount
      property :supports, [Array, Hash], default: lazy { { remount: false } },
        coerce: proc { |x| x.is_a?(Array) ? x.to_h { |i| [i, true] } : x }, desired_state: false
      property :mount_point, String, name_property: true, coerce: proc { |arg|
        arg == "/" || arg.match?(%r{:/$}) ? arg : arg.chomp("/")
      }
      property :device_type, [String, Symbol], default: :device, equal_to: %i{device label uuid}, coerce: proc { |arg|
        arg.is_a?(String) ? arg.to_sym : arg
      }
      property :options, [Array, String, nil], default: %w{defaults}, coerce: proc { |o|
        o.is_a?(String) ? o.tr(",", " ").split(/\s+/) : o
      }
    end
  end
  class Provider
    class Mount < Chef::Provider
      def load_current_resource
        @point = new_resource.mount_point
        @mounted = ::File.readlines("/proc/mounts").any? { |l| l.split[1] == @point.gsub(" ", "\\040") }
      end
      def device
        r = new_resource
        { device: r.device, label: "LABEL=#{r.device}", uuid: "UUID=#{r.device}" }[r.device_type]
      end
      def line
        "#{device} #{@point} #{new_resource.fstype} " \
          "#{new_resource.options.nil? ? "defaults" : new_resource.options.join(",")} #{new_resource.dump} " \
          "#{new_resource.pass}"
      end
      def in_fstab = ::File.readlines("/etc/fstab").find { |l| !l.start_with?("#") && l.split[1] == @point }
      def about(property, from, to) = fx_about(:mount, @point, property => [from, to])
      def action_mount
        return if @mounted
        unless ::File.exist?(@point) || whyrun_mode?
          fx_unmet(Chef::Exceptions::Mount, "Mount point #{@point} does not exist")
        end
        fx_change("mount #{new_resource.device} to #{@point}", about(:mounted, nil, device)) do
          FX.check_mount_point(@point)
          o = Array(new_resource.options) - ["defaults"]
          dev = { device: [device], label: ["-L", new_resource.device], uuid: ["-U", new_resource.device] }[
            new_resource.device_type]
          shell_out!("mount", "-t", new_resource.fstype, *(o.empty? ? [] : ["-o", o.join(",")]), *dev, @point)
        end
      end
      def action_umount
        return unless @mounted
        fx_change("unmount #{new_resource.device}", about(:mounted, device, nil)) do
          FX.check_mount_point(@point)
          shell_out!("umount", "--", @point)
        end
      end
      alias action_unmount action_umount
      def action_remount
        return unless @mounted
        fx_change("remount #{new_resource.device}", about(:options, nil, Array(new_resource.options))) do
          shell_out!("mount", "-o", "remount,#{Array(new_resource.options).join(",")}", @point)
        end
      end
      def action_enable
        now = in_fstab
        return if now && now.split == line.split
        fx_change("enable #{new_resource.device}", about(:fstab, now&.chomp || "absent", line)) do
          kept = ::File.readlines("/etc/fstab").reject { |l| !l.start_with?("#") && l.split[1] == @point }
          ::File.write("/etc/fstab", kept.join + line + "\n")
        end
      end
      def action_disable
        now = in_fstab
        return unless now
        fx_change("disable #{new_resource.device}", about(:fstab, now.chomp, "absent")) do
          ::File.write("/etc/fstab",
            ::File.readlines("/etc/fstab").reject { |l| !l.start_with?("#") && l.split[1] == @point }.join)
        end
      end
    end
  end
end
