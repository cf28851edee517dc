# swap_file: a file that the kernel swaps to.
class Chef
  class Provider
    class SwapFile < FxComposite
      MEGA = 1_048_576
      def on? = fx_look("swapon", "--summary").stdout.to_s.match?(/^#{Regexp.escape(new_resource.path)}\s/)
      def about(property, from, to) = fx_about(:swap_file, new_resource.path, property => [from, to])
      def run(text, changes, command, **opts)
        fx_change(text, changes) { fx_tool!(*command, **opts) }
      end
      def dd = ["dd", "if=/dev/zero", "of=#{new_resource.path}", "bs=#{MEGA}", "count=#{new_resource.size}"]
      def quick
        fs = fx_look("df", "-PT", "--", ::File.dirname(new_resource.path)).stdout.to_s.lines[1].to_s.split[1].to_s
        %w{xfs ext4}.include?(fs) && which("fallocate") && !docker? ?
          ["fallocate", "-l", MEGA * new_resource.size, "--", new_resource.path] : dd
      end
      def make(command)
        path = new_resource.path
        run("create empty swapfile at #{path}", about(:size, ::File.size?(path).to_i, MEGA * new_resource.size),
          command, timeout: new_resource.timeout.to_i)
        mode = ::File.exist?(path) ? format("%o", ::File.stat(path).mode & 07777) : "absent"
        run("set permissions on #{path} to 600", fx_about(:file, path, mode: [mode, "600"]),
          ["chmod", "600", "--", path])
        run("make #{path} swappable", about(:format, nil, "swap"), ["mkswap", "-f", "--", path])
        run("enable swap for #{path}", about(:enabled, false, true), ["swapon", "--", path])
        persist if new_resource.persist
      end
      def persist
        line = "#{new_resource.path} swap swap defaults 0 0"
        lines = ::File.exist?("/etc/fstab") ? ::File.readlines("/etc/fstab") : []
        return if lines.any? { |l| l.strip == line }
        # The original says nothing of it.
        fx_change([], fx_about(:mount, new_resource.path, fstab: ["absent", line])) do
          ::File.write("/etc/fstab", lines.join + line + "\n")
        end
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
        run("turn off swap for #{path}", about(:enabled, true, false), ["swapoff", "--", path]) if on?
        if ::File.exist?(path)
          fx_change("remove swap file #{path}", fx_about(:file, path, ensure: %w{file absent})) { ::File.unlink(path) }
        end
      end
    end
  end
end
