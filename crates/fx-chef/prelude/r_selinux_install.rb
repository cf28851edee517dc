# selinux_install: the packages SELinux needs.
class Chef
  class Resource
    class SelinuxInstall
      property :packages, [String, Array], default: lazy {
        case node["platform_family"]
        when "rhel", "fedora", "amazon"
          %w{make policycoreutils selinux-policy selinux-policy-targeted selinux-policy-devel libselinux-utils
            setools-console}
        when "debian"
          list = %w{make policycoreutils selinux-basics selinux-policy-default selinux-policy-dev auditd setools}
          node["platform"] == "ubuntu" && node["platform_version"].to_f == 18.04 ? list.insert(2, "selinux") : list
        end
      }
    end
  end
  class Provider
    class SelinuxInstall < FxComposite
      def packages(what)
        list = new_resource.packages
        if list.nil?
          raise "The platform #{node["platform"]} is not currently supported by the `selinux_install` resource."
        end
        declare_resource(:package, "selinux") do
          package_name list
          action what
        end
      end
      action(:install) do
        packages(:install)
        declare_resource(:directory, "/etc/selinux") do
          owner "root"
          group "root"
          mode "0755"
        end
      end
      action(:upgrade) { packages(:upgrade) }
      action(:remove) { packages(:remove) }
    end
  end
end
