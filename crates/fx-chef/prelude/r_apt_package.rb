# apt_package: Debian's packages from its archives.
class Chef
  class Provider
    class AptPackage < Package
      def fx_env = { "DEBIAN_FRONTEND" => "noninteractive" }
      def installed(n)
        r = fx_look("dpkg-query", "-W", "-f", "${Status} ${Version}", n)
        r.exitstatus == 0 && r.stdout =~ /\Ainstall ok installed (\S+)/ ? $1 : nil
      end
      def leftovers?(n)
        r = fx_look("dpkg-query", "-W", "-f", "${Status}", n)
        r.exitstatus == 0 && r.stdout.include?("config-files")
      end
      def candidate(n)
        @candidates ||= {}
        @candidates[n] ||= begin
          release = new_resource.respond_to?(:default_release) && new_resource.default_release ? ["-o", "APT::Default-Release=#{new_resource.default_release}"] : []
          out = fx_look("apt-cache", *release, "policy", n).stdout
          c = out[/Candidate: (\S+)/, 1]
          c = nil if c == "(none)"
          c || virtual(n)
        end
      end
      # A name that other packages provide is installed under theirs.
      def virtual(n)
        out = fx_look("apt-cache", "showpkg", n).stdout
        names = out[/^Reverse Provides: ?\n(.*)\z/m, 1].to_s.scan(/^(\S+)/).flatten.uniq
        names.size == 1 ? names[0] && fx_look("apt-cache", "policy", names[0]).stdout[/Candidate: (\S+)/, 1] : nil
      end
      # apt knows the flag since 1.1.
      def downgrades? = Gem::Version.new(fx_look("apt-get", "--version").stdout[/^apt ([0-9.]+)/, 1] || "0") >= Gem::Version.new("1.1.0")
      def install(names, versions)
        args = names.zip(versions).map { |n, v| v ? "#{n}=#{v}" : n }
        release = new_resource.respond_to?(:default_release) && new_resource.default_release ? ["-o", "APT::Default-Release=#{new_resource.default_release}"] : []
        conf = new_resource.respond_to?(:overwrite_config_files) && new_resource.overwrite_config_files ? ["-o", "Dpkg::Options::=--force-confnew"] : ["-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"]
        back = downgrades? ? ["--allow-downgrades"] : []
        tool("apt-get", "-q", "-y", *back, *conf, *release, *options, "install", *args)
      end
      def remove(names) = tool("apt-get", "-q", "-y", *options, "remove", *names)
      def purge(names) = tool("apt-get", "-q", "-y", *options, "purge", *names)
      def locked?(n) = fx_look("apt-mark", "showhold").stdout.split("\n").include?(n)
      def lock(names) = tool("apt-mark", "hold", *names)
      def unlock(names) = tool("apt-mark", "unhold", *names)
      def reconfig(names) = tool("dpkg-reconfigure", *names)
    end
  end
end
