# swap_file: a file that the kernel swaps to.
class Chef
  class Provider
    class SwapFile < FxComposite
      MEGA = 1_048_576
      def on? = shell_out("swapon", "--summary").stdout.to_s.match?(/^#{Regexp.escape(new_resource.path)}\s/)
      def run(text, command, **opts)
        converge_by(text) { fx_tool!(*command, **opts) }
      end
      def dd = ["dd", "if=/dev/zero", "of=#{new_resource.path}", "bs=#{MEGA}", "count=#{new_resource.size}"]
      def quick
        fs = fx_tool("df", "-PT", "--", ::File.dirname(new_resource.path)).stdout.to_s.lines[1].to_s.split[1].to_s
        %w{xfs ext4}.include?(fs) && which("fallocate") && !docker? ? ["fallocate", "-l", MEGA * new_resource.size, "--", new_resource.path] : dd
      end
      def make(command)
        path = new_resource.path
        run("create empty swapfile at #{path}", command, timeout: new_resource.timeout.to_i)
        run("set permissions on #{path} to 600", ["chmod", "600", "--", path])
        run("make #{path} swappable", ["mkswap", "-f", "--", path])
        run("enable swap for #{path}", ["swapon", "--", path])
        persist if new_resource.persist
      end
      def persist
        line = "#{new_resource.path} swap swap defaults 0 0"
        lines = ::File.exist?("/etc/fstab") ? ::File.readlines("/etc/fstab") : []
        return if whyrun_mode? || lines.any? { |l| l.strip == line }
        ::File.write("/etc/fstab", lines.join + line + "\n")
      end
      action(:create) do
        unless on?
          begin
            make(quick)
          rescue Mixlib::ShellOut::ShellCommandFailed
            Chef::Log.warn("#{new_resource} Rescuing failed swapfile creation for #{new_resource.path}")
            make(dd)
          end
        end
        n = new_resource.swappiness
        declare_resource(:sysctl, "vm.swappiness") { value n } if n
      end
      action(:remove) do
        path = new_resource.path
        run("turn off swap for #{path}", ["swapoff", "--", path]) if on?
        converge_by("remove swap file #{path}") { ::File.unlink(path) } if ::File.exist?(path)
      end
    end
  end
end
