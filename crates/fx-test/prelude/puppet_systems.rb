# Facts of a small machine for each system that ships, where no facterdb is installed.
module RspecPuppetFacts
  module Shipped
    MODEL = "x86_64"
    def self.all = RSpec::Core::Systems::ROWS.map { |row| of(row) }

    def self.of(row)
      old(row).merge("os" => os(row), "networking" => networking, "memory" => memory, "processors" => processors,
        "identity" => { "gid" => 0, "group" => "root", "privileged" => true, "uid" => 0, "user" => "root" },
        "ruby" => { "platform" => "x86_64-linux", "sitedir" => "/opt/puppetlabs/puppet/lib/ruby/site_ruby/2.7.0",
                    "version" => "2.7.3" },
        "system_uptime" => { "days" => 0, "hours" => 1, "seconds" => 3600, "uptime" => "1:00 hours" },
        "load_averages" => { "1m" => 0.0, "5m" => 0.0, "15m" => 0.0 }, "mountpoints" => mountpoints, "disks" => {},
        "partitions" => {}, "ssh" => {}, "dmi" => {}, "filesystems" => "ext4")
    end

    # The flat facts of Facter's older versions.
    def self.old(row)
      major, minor = row.release.split(".")
      version = row.kernel[/\A[\d.]+/]
      facts = { "architecture" => architecture(row), "domain" => "example.com", "facterversion" => "4.2.13",
                "fqdn" => "foo.example.com", "gid" => "root", "hardwareisa" => isa(row), "hardwaremodel" => MODEL,
                "hostname" => "foo", "id" => "root", "interfaces" => "eth0,lo", "ipaddress" => "10.0.2.15",
                "ipaddress_eth0" => "10.0.2.15", "ipaddress_lo" => "127.0.0.1", "is_virtual" => true,
                "kernel" => "Linux", "kernelmajversion" => version[/\A\d+\.\d+/], "kernelrelease" => row.kernel,
                "kernelversion" => version, "macaddress" => "02:00:00:00:00:0f",
                "macaddress_eth0" => "02:00:00:00:00:0f", "memorysize" => "1.94 GiB", "memorysize_mb" => 1982.5,
                "memoryfree" => "1.50 GiB", "memoryfree_mb" => 1536.0, "netmask" => "255.255.255.0",
                "netmask_eth0" => "255.255.255.0", "network" => "10.0.2.0", "network_eth0" => "10.0.2.0",
                "operatingsystem" => row.name, "operatingsystemmajrelease" => row.major,
                "operatingsystemrelease" => row.release, "osfamily" => row.osfamily,
                "path" => "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "physicalprocessorcount" => 1,
                "processorcount" => 1, "processor0" => "Example CPU", "rubyplatform" => "x86_64-linux",
                "selinux" => row.osfamily == "RedHat", "swapsize" => "0 bytes", "swapsize_mb" => 0.0,
                "timezone" => "UTC", "uptime" => "1:00 hours", "uptime_days" => 0, "uptime_hours" => 1,
                "uptime_seconds" => 3600, "virtual" => "kvm" }
      return facts unless row.family == "debian"
      facts.merge("lsbdistid" => row.name, "lsbdistcodename" => row.codename, "lsbdistrelease" => row.release,
        "lsbmajdistrelease" => row.major, "lsbminordistrelease" => minor, "lsbdistdescription" => described(row))
    end
    def self.os(row)
      major, minor = row.name == "Ubuntu" ? [row.version, nil] : row.release.split(".")
      distro = { "codename" => row.codename, "description" => described(row), "id" => row.name,
                 "release" => { "full" => row.release, "major" => major, "minor" => minor }.compact }
      { "architecture" => architecture(row), "family" => row.osfamily, "hardware" => MODEL, "name" => row.name,
        "release" => { "full" => row.release, "major" => row.major, "minor" => minor }.compact, "distro" => distro,
        "selinux" => row.osfamily == "RedHat" ? selinux : { "enabled" => false } }
    end
    def self.selinux
      { "enabled" => true, "enforced" => true, "config_mode" => "enforcing", "config_policy" => "targeted",
        "current_mode" => "enforcing", "policy_version" => "33" }
    end
    def self.architecture(row) = row.family == "debian" ? "amd64" : MODEL
    def self.isa(row) = row.family == "debian" ? "unknown" : MODEL
    def self.described(row)
      case row.name
      when "Ubuntu" then "Ubuntu #{row.version} LTS"
      when "Debian" then "Debian GNU/Linux #{row.version} (#{row.codename})"
      else "#{row.name} release #{row.release} (#{row.codename})"
      end
    end
    def self.networking
      eth = { "ip" => "10.0.2.15", "mac" => "02:00:00:00:00:0f", "mtu" => 1500, "netmask" => "255.255.255.0",
              "network" => "10.0.2.0",
              "bindings" => [{ "address" => "10.0.2.15", "netmask" => "255.255.255.0", "network" => "10.0.2.0" }] }
      lo = { "ip" => "127.0.0.1", "mtu" => 65_536, "netmask" => "255.0.0.0", "network" => "127.0.0.0" }
      eth.except("bindings").merge("domain" => "example.com", "fqdn" => "foo.example.com", "hostname" => "foo",
        "interfaces" => { "eth0" => eth, "lo" => lo }, "primary" => "eth0")
    end
    def self.memory
      { "system" => { "available" => "1.50 GiB", "available_bytes" => 1_610_612_736, "capacity" => "22.52%",
                      "total" => "1.94 GiB", "total_bytes" => 2_078_801_920, "used" => "446.50 MiB",
                      "used_bytes" => 468_189_184 } }
    end
    def self.processors
      { "count" => 1, "isa" => "unknown", "models" => ["Example CPU"], "physicalcount" => 1, "cores" => 1,
        "threads" => 1 }
    end
    def self.mountpoints
      { "/" => { "available" => "36.00 GiB", "available_bytes" => 38_654_705_664, "capacity" => "10.00%",
                 "device" => "/dev/sda1", "filesystem" => "ext4", "options" => ["rw"], "size" => "40.00 GiB",
                 "size_bytes" => 42_949_672_960, "used" => "4.00 GiB", "used_bytes" => 4_294_967_296 } }
    end
  end
end
