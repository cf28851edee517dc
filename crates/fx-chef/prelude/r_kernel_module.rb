# kernel_module: loaded now and at boot, or barred.
class Chef
  class Resource
    class KernelModule
      action_class do
        def loaded? = ::File.read("/proc/modules").match?(/^#{new_resource.modname}/)

        # The image that the machine starts from holds a copy of these files.
        def image
          with_run_context :root do
            tool = platform_family?("debian") ? "update-initramfs -u" : "dracut -f"
            find_resource(:execute, "update initramfs") do
              command tool
              action :nothing
            end
          end
        end

        def conf(path, text = nil, image: true)
          file path do
            text ? content(text) : action(:delete)
            notifies :run, "execute[update initramfs]", :delayed if image
          end
        end
      end

      action :install do
        r = new_resource
        image
        action_enable
        unless r.options.nil?
          conf("#{r.unload_dir}/options_#{r.modname}.conf", "options #{r.modname} #{r.options.join(" ")}\n",
            image: false)
        end
        action_load
        directory(r.load_dir) { recursive true }
        conf("#{r.load_dir}/#{r.modname}.conf", "#{r.modname}\n")
      end

      action :uninstall do
        r = new_resource
        image
        conf("#{r.load_dir}/#{r.modname}.conf")
        conf("#{r.unload_dir}/blacklist_#{r.modname}.conf")
        conf("#{r.unload_dir}/options_#{r.modname}.conf", image: false)
        action_unload
      end

      action :blacklist do
        r = new_resource
        image
        conf("#{r.unload_dir}/blacklist_#{r.modname}.conf", "blacklist #{r.modname}")
        action_unload
      end

      action :disable do
        r = new_resource
        image
        conf("#{r.unload_dir}/disable_#{r.modname}.conf", "install #{r.modname} /bin/false")
        action_unload
      end

      action :enable do
        image
        conf("#{new_resource.unload_dir}/disable_#{new_resource.modname}.conf")
      end

      action :load do
        unless loaded?
          fx_change("load kernel module #{new_resource.modname}",
            fx_about(:kernel_module, new_resource.modname, loaded: [false, true])) do
            fx_tool!("modprobe", "--", new_resource.modname)
          end
        end
      end

      action :unload do
        if loaded?
          fx_change("unload kernel module #{new_resource.modname}",
            fx_about(:kernel_module, new_resource.modname, loaded: [true, false])) do
            fx_tool!("modprobe", "-r", "--", new_resource.modname)
          end
        end
      end
    end
  end
end
