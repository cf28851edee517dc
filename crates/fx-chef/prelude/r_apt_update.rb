# apt_update: the lists of packages, now or when they are old.
class Chef
  class Provider
    class AptUpdate < Chef::Provider
      STAMP = "/var/lib/apt/periodic/update-success-stamp"
      def load_current_resource = nil
      def refresh
        require "fileutils"
        FileUtils.mkdir_p("/etc/apt/apt.conf.d")
        conf = "/etc/apt/apt.conf.d/15update-stamp"
        ::File.write(conf, "APT::Update::Post-Invoke-Success {\"touch #{STAMP} 2>/dev/null || true\";};\n") unless ::File.exist?(conf)
        FileUtils.mkdir_p(::File.dirname(STAMP))
        shell_out!("apt-get", "-q", "update", timeout: 600)
      end
      def action_periodic
        f = new_resource.frequency
        return if ::File.exist?(STAMP) && ::File.mtime(STAMP) > Time.now - f
        converge_by("update new lists of packages") { refresh }
      end
      def action_update = converge_by("force update new lists of packages") { refresh }
    end
  end
end
