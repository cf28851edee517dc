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
        @mounted = FX.mounted?(@point)
      end
      def device
        r = new_resource
        { device: r.device, label: "LABEL=#{r.device}", uuid: "UUID=#{r.device}" }[r.device_type]
      end
      # What a line of fstab says besides the directory.
      def fields
        r = new_resource
        [device, r.fstype, r.options.nil? ? "defaults" : r.options.join(","), r.dump, r.pass]
      end
      def call(change, options = nil) = FX.mount_words(change, @point, device, new_resource.fstype, options)
      def mount_now
        FX.check_mount_point(@point)
        shell_out!(*call("mount", Array(new_resource.options) - ["defaults"]))
      end
      def unmount_now
        FX.check_mount_point(@point)
        shell_out!(*call("unmount"))
      end
      def about(property, from, to) = fx_about(:mount, @point, property => [from, to])
      def action_mount
        return if @mounted
        unless ::File.exist?(@point) || whyrun_mode?
          fx_unmet(Chef::Exceptions::Mount, "Mount point #{@point} does not exist")
        end
        fx_change("mount #{new_resource.device} to #{@point}", about(:mounted, nil, device)) do
          mount_now
        end
      end
      def action_umount
        return unless @mounted
        fx_change("unmount #{new_resource.device}", about(:mounted, device, nil)) { unmount_now }
      end
      alias action_unmount action_umount
      def action_remount
        return unless @mounted
        fx_change("remount #{new_resource.device}", about(:options, nil, Array(new_resource.options))) do
          if new_resource.supports[:remount]
            shell_out!(*call("remount", new_resource.options))
          else
            unmount_now
            mount_now
          end
        end
      end
      def action_enable
        now, wanted, same = FX.fstab(@point, fields)
        return if same
        fx_change("enable #{new_resource.device}", about(:fstab, now || "absent", wanted)) do
          FX.edit_fstab(@point, fields)
        end
      end
      def action_disable
        now, = FX.fstab(@point, nil)
        return unless now
        fx_change("disable #{new_resource.device}", about(:fstab, now, "absent")) { FX.edit_fstab(@point, nil) }
      end
    end
  end
end
