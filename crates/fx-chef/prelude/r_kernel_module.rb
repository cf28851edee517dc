# kernel_module: loaded now and at boot, or barred.
class Chef
  class Provider
    class KernelModule < FxComposite
      def loaded? = ::File.exist?("/proc/modules") && ::File.readlines("/proc/modules").any? { |l| l.split[0] == new_resource.modname.tr("-", "_") }
      action(:install) do
        r = new_resource
        opts = r.options
        declare_resource(:directory, r.unload_dir)
        fx_text(:file, "#{r.unload_dir}/options_#{r.modname}.conf", "options #{r.modname} #{Array(opts).join(" ")}\n") unless opts.nil?
        declare_resource(:directory, r.load_dir)
        fx_text(:file, "#{r.load_dir}/#{r.modname}.conf", "#{r.modname}\n")
        declare_resource(:execute, "modprobe #{r.modname}") unless loaded?
      end
      action(:load) { declare_resource(:execute, "modprobe #{new_resource.modname}") unless loaded? }
      action(:unload) { declare_resource(:execute, "modprobe -r #{new_resource.modname}") if loaded? }
      action(:uninstall) do
        r = new_resource
        ["#{r.load_dir}/#{r.modname}.conf", "#{r.unload_dir}/blacklist_#{r.modname}.conf", "#{r.unload_dir}/options_#{r.modname}.conf"].each { |f| declare_resource(:file, f) { action :delete } }
        declare_resource(:execute, "modprobe -r #{r.modname}") if loaded?
      end
      action(:blacklist) do
        r = new_resource
        fx_text(:file, "#{r.unload_dir}/blacklist_#{r.modname}.conf", "blacklist #{r.modname}\n")
        declare_resource(:execute, "modprobe -r #{r.modname}") if loaded?
      end
      action(:enable) do
        r = new_resource
        ["#{r.unload_dir}/disable_#{r.modname}.conf", "#{r.unload_dir}/blacklist_#{r.modname}.conf"].each { |f| declare_resource(:file, f) { action :delete } }
      end
      action(:disable) do
        r = new_resource
        fx_text(:file, "#{r.unload_dir}/disable_#{r.modname}.conf", "install #{r.modname} /bin/false\n")
        declare_resource(:execute, "modprobe -r #{r.modname}") if loaded?
      end
    end
  end
end
