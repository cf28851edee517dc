# zypper_package: SUSE's packages.
class Chef
  class Resource
    class ZypperPackage
      property :gpg_check, [TrueClass, FalseClass], default: lazy { Chef::Config[:zypper_check_gpg] }
      property :global_options, [String, Array], coerce: proc { |x| x.is_a?(String) ? x.shellsplit : x }
    end
  end
  class Provider
    class ZypperPackage < Package
      def zypper(*args) = tool("zypper", *Array(new_resource.global_options), "--non-interactive", *(new_resource.gpg_check ? [] : ["--no-gpg-checks"]), *args)
      def installed(n)
        r = fx_look("rpm", "-q", "--queryformat", "%{VERSION}-%{RELEASE}", n)
        r.exitstatus == 0 ? r.stdout : nil
      end
      def candidate(n) = fx_look("zypper", "--non-interactive", "info", n).stdout[/^Version *: (.+?) *$/, 1]
      def install(names, versions) = zypper("install", "--auto-agree-with-licenses", *options, *names.zip(versions).map { |n, v| v ? "#{n}=#{v}" : n })
      def remove(names) = zypper("remove", *options, *names)
    end
  end
end
