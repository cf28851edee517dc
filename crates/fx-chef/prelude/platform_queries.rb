# chef-utils: questions about the platform, for every place in a cookbook.
module ChefUtils
  module Internal
    def __getnode(skip_global = false)
      return self if defined?(Chef::Node) && is_a?(Chef::Node)
      return node if respond_to?(:node) && node
      Chef.node
    end
  end

  module DSL
    module PlatformFamily
      { arch?: %w{arch}, aix?: %w{aix}, debian?: %w{debian}, fedora?: %w{fedora}, macos?: %w{mac_os_x}, rhel?: %w{rhel},
        amazon?: %w{amazon}, solaris2?: %w{solaris2},
        smartos?: %w{smartos}, suse?: %w{suse}, gentoo?: %w{gentoo}, freebsd?: %w{freebsd}, openbsd?: %w{openbsd},
        netbsd?: %w{netbsd}, dragonflybsd?: %w{dragonflybsd},
        windows?: %w{windows}, fedora_based?: %w{fedora rhel amazon}, rpm_based?: %w{fedora rhel amazon suse},
        solaris_based?: %w{smartos omnios openindiana opensolaris solaris2 nexentacore},
        bsd_based?: %w{openbsd netbsd freebsd dragonflybsd} }.each do |name, families|
        define_method(name) { |node = __getnode| node ? families.include?(node["platform_family"].to_s) : false }
      end
      def rhel6?(node = __getnode) = rhel?(node) && node["platform_version"].to_i == 6
      def rhel7?(node = __getnode) = rhel?(node) && node["platform_version"].to_i == 7
      def rhel8?(node = __getnode) = rhel?(node) && node["platform_version"].to_i == 8
      def rhel9?(node = __getnode) = rhel?(node) && node["platform_version"].to_i == 9
      alias fedora_derived? fedora_based?
      alias debian_based? debian?
      alias redhat_based? rhel?
      alias mac? macos?
      alias osx? macos?
      alias mac_os_x? macos?
      def windows_ruby? = false
    end

    module Platform
      { linuxmint?: %w{linuxmint}, ubuntu?: %w{ubuntu}, raspbian?: %w{raspbian}, debian_platform?: %w{debian},
        amazon_platform?: %w{amazon}, redhat?: %w{redhat}, centos_platform?: %w{centos},
        oracle?: %w{oracle}, scientific?: %w{scientific}, clearos?: %w{clearos}, fedora_platform?: %w{fedora},
        arch_platform?: %w{arch}, suse_platform?: %w{suse}, opensuse?: %w{opensuse opensuseleap},
        rocky?: %w{rocky}, alma?: %w{alma almalinux}, leap?: %w{opensuseleap}, cisco_nxos?: %w{nexus},
        cisco_ios_xr?: %w{ios_xr}, solaris2_platform?: %w{solaris2}, gentoo_platform?: %w{gentoo},
        freebsd_platform?: %w{freebsd}, openbsd_platform?: %w{openbsd}, netbsd_platform?: %w{netbsd},
        macos_platform?: %w{mac_os_x}, windows_platform?: %w{windows}, aix_platform?: %w{aix},
        omnios?: %w{omnios}, nexentacore?: %w{nexentacore}, openindiana?: %w{openindiana},
        smartos_platform?: %w{smartos}, slackware?: %w{slackware} }.each do |name, platforms|
        define_method(name) { |node = __getnode| node ? platforms.include?(node["platform"].to_s) : false }
      end
      %i{linuxmint ubuntu raspbian redhat oracle scientific clearos opensuse rocky alma leap omnios nexentacore
        openindiana slackware}.each { |n| alias_method :"#{n}_platform?", :"#{n}?" }
      alias redhat_enterprise_linux? redhat?
      alias rhel_enterprise? redhat?
      alias oracle_linux? oracle?
      alias scientific_linux? scientific?
      alias mint? linuxmint?
      alias linux_mint? linuxmint?
      def centos?(node = __getnode)
        node ? node["platform"] == "centos" && !(node.read("os_release", "name").to_s == "CentOS Stream") : false
      end
      def centos_stream?(node = __getnode)
        node ? node["platform"] == "centos" && node.read("os_release", "name").to_s == "CentOS Stream" : false
      end
      alias centos_platform_any? centos_platform?
    end

    module OS
      def linux?(node = __getnode) = node ? node["os"] == "linux" : true
      def darwin?(node = __getnode) = node ? node["os"] == "darwin" : false
    end

    module Architecture
      def _64_bit?(node = __getnode)
        %w{amd64 x86_64 ppc64 ppc64le s390x ia64 sparc64 aarch64 arch64 arm64 sun4v
          sun4u}.include?(node.read("kernel", "machine").to_s)
      end
      def _32_bit?(node = __getnode) = !_64_bit?(node)
      def i386?(node = __getnode) = _32_bit?(node) && intel?(node)
      def intel?(node = __getnode) = %w{i86pc i386 x86_64 amd64 i686}.include?(node.read("kernel", "machine").to_s)
      def x86_64?(node = __getnode) = %w{x86_64 amd64}.include?(node.read("kernel", "machine").to_s)
      def arm?(node = __getnode)
        %w{armv6l armv7l armhf aarch64 arm64 arch64}.include?(node.read("kernel", "machine").to_s)
      end
      def aarch64?(node = __getnode) = %w{aarch64 arm64}.include?(node.read("kernel", "machine").to_s)
      def armhf?(node = __getnode) = %w{armv6l armv7l armhf}.include?(node.read("kernel", "machine").to_s)
      def armel? = false
      def ppc64?(node = __getnode) = node.read("kernel", "machine") == "ppc64"
      def ppc64le?(node = __getnode) = node.read("kernel", "machine") == "ppc64le"
      def s390x?(node = __getnode) = node.read("kernel", "machine") == "s390x"
      def sparc?(node = __getnode) = false
      def powerpc?(node = __getnode) = node.read("kernel", "machine").to_s.start_with?("ppc")
    end

    module PlatformVersion
      def platform_version(node = __getnode) = ChefUtils::VersionString.new(node["platform_version"])
    end

    module Which
      def which(*cmds, extra_path: nil)
        paths = ENV["PATH"].to_s.split(":") + Array(extra_path)
        cmds.flatten.each do |c|
          paths.each do |d|
            f = ::File.join(d, c.to_s)
            return f if ::File.executable?(f) && !::File.directory?(f) && (!block_given? || yield(f))
          end
        end
        false
      end
      def where(*cmds, extra_path: nil) = [which(*cmds, extra_path: extra_path)].select { |x| x }
    end

    module Service
      # The first process is asked, and the sign that systemd leaves: in a copy of the machine the
      # first process is another.
      def systemd?(node = __getnode)
        (::File.exist?("/proc/1/comm") && ::File.read("/proc/1/comm").chomp == "systemd") ||
          ::File.directory?("/run/systemd/system")
      end
      def debianrcd? = ::File.exist?("/usr/sbin/update-rc.d")
      def invokercd? = ::File.exist?("/usr/sbin/invoke-rc.d")
      def upstart? = ::File.exist?("/sbin/initctl")
      def insserv? = ::File.exist?("/sbin/insserv")
      def redhatrcd? = ::File.exist?("/sbin/chkconfig")
      def service_script_exist?(type, script)
        case type
        when :initd then ::File.exist?("/etc/init.d/#{script}")
        when :upstart then ::File.exist?("/etc/init/#{script}.conf")
        when :xinetd then ::File.exist?("/etc/xinetd.d/#{script}")
        when :etc_rcd then ::File.exist?("/etc/rc.d/#{script}")
        when :systemd then !!systemd_unit?(script)
        end
      end
      def systemd_unit?(name)
        %w{/etc /usr/lib /lib /run}.any? do |d|
          %w{service socket timer}.any? { |t| ::File.exist?("#{d}/systemd/system/#{name}.#{t}") } ||
            ::File.exist?("#{d}/systemd/system/#{name}")
        end
      end
      def has_systemd_service_unit?(name) = systemd_unit?(name)
      def has_systemd_unit?(name) = systemd_unit?(name)
    end

    module Introspection
      def docker?(node = __getnode) = !!(node && node.read("virtualization", "systems", "docker") == "guest")
      def ci? = ENV.key?("CI") || ENV.key?("GITHUB_ACTIONS")
      def kitchen?(node = __getnode) = ENV.key?("TEST_KITCHEN")
      def effortless? = false
      def has_gem?(*) = false
      def include_recipe?(name, node = __getnode) = node.recipe?(name)
      def includes_recipe?(name, node = __getnode) = node.recipe?(name)
      def chef_environment? = false
    end

    module Virtualization
      { kvm?: "kvm", lxc?: "lxc", lxd?: "lxd", parallels?: "parallels", vbox?: "vbox", vmware?: "vmware",
        openvz?: "openvz", hyperv?: "hyperv" }.each do |name, key|
        define_method(name) do |node = __getnode|
          node.read("virtualization", "system") == key && node.read("virtualization", "role") == "guest"
        end
        define_method(:"#{name.to_s.chomp("?")}_host?") { |node = __getnode| node
          .read("virtualization", "systems", key) == "host" }
      end
      alias virtualbox? vbox?
      def guest?(node = __getnode) = node.read("virtualization", "role") == "guest"
      alias virtual? guest?
      def hypervisor?(node = __getnode) = node.read("virtualization", "role") == "host"
      def physical?(node = __getnode) = !virtual?(node)
      def vagrant?(node = __getnode) = !!node.read("etc", "passwd", "vagrant")
      def vagrant_key?(node = __getnode) = node.key?("vagrant")
      def vmware_vmotion?(*) = false
    end

    module Cloud
      def cloud?(node = __getnode) = !node["cloud"].nil?
      { ec2?: "ec2", gce?: "gce", rackspace?: "rackspace", eucalyptus?: "eucalyptus", linode?: "linode",
        openstack?: "openstack", azure?: "azure", digital_ocean?: "digital_ocean", softlayer?: "softlayer",
        alibaba?: "alibaba" }.each do |name, key|
        define_method(name) { |node = __getnode| node.key?(key) }
      end
      alias digitalocean? digital_ocean?
      alias euca? eucalyptus?
    end

    module TrainHelpers; end
    module Windows
      %i{windows_server_core? windows_server? windows_workstation? windows_nt_version powershell_version}.each do |m|
        define_method(m) { |*| false }
      end
    end
    include PlatformFamily
  end
  include Internal
  include DSL::PlatformFamily
  include DSL::Platform
  include DSL::OS
  include DSL::Architecture
  include DSL::PlatformVersion
  include DSL::Which
  include DSL::Service
  include DSL::Introspection
  include DSL::Virtualization
  include DSL::Cloud
  include DSL::Windows
  extend self
end
