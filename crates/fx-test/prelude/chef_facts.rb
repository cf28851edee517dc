# Fauxhai: automatic attributes of a platform, from its files where they are installed or named by a path, else
# a small set that ships.
module Fauxhai
  VERSION = "9.4.22"
  module Exception
    class InvalidPlatform < ArgumentError
      def initialize(platform = nil)
        super("Could not find platform '#{platform}' in Fauxhai or invalid platform given")
      end
    end
  end

  class << self
    def mock(*args, &block) = Mocker.new(*args, &block)
    # Directories with PLATFORM/VERSION.json.
    def folders
      @folders ||= begin
        homes = [ENV["GEM_HOME"], *ENV["GEM_PATH"].to_s.split(File::PATH_SEPARATOR), *Dir["vendor/bundle/ruby/*"],
          *Dir["#{Dir.home}/.gem/ruby/*", "#{Dir.home}/.chefdk/gem/ruby/*", "#{Dir.home}/.chef-workstation/gem/ruby/*"],
          *Dir["/var/lib/gems/*", "/usr/share/rubygems-integration/*",
            "/opt/chef-workstation/embedded/lib/ruby/gems/*"]]
        homes.compact.flat_map { |dir| Dir["#{dir}/gems/fauxhai*/lib/fauxhai/platforms"].sort.reverse }
      end
    end

    # What is known of a platform, as text of JSON; nil where it is unknown.
    def text_of(platform, version)
      folders.each do |dir|
        file = "#{dir}/#{platform}/#{version}.json"
        return File.read(file) if File.file?(file)
        newest = newest_of(Dir["#{dir}/#{platform}/*.json"].map { |path| File.basename(path, ".json") }, version)
        return File.read("#{dir}/#{platform}/#{newest}.json") if newest
      end
      nil
    end

    # The newest version that begins with the one that is asked for.
    def newest_of(versions, wanted)
      versions = versions.select { |one| one.match?(/\A#{Regexp.escape(wanted)}\D/) } unless wanted.to_s.empty?
      versions.max_by do |one|
        one.split(/[^a-z0-9]|(?<=\d)[a-z](?=\d)/i).map { |part| part.match?(/\A\d+\z/) ? [0, part.to_i] : [1, part] }
      end
    end
  end

  class Mocker
    def initialize(options = {})
      @options = options.to_h.transform_keys(&:to_sym)
      yield(data) if block_given?
    end
    # A copy of one's own.
    def data
      require "json"
      @data ||= ::JSON.parse(::JSON.generate(shared))
    end
    # What all share who do not change it.
    def shared
      require "json"
      known = (@@known ||= {})
      key = [@options[:path], (@options[:platform] || "chefspec").to_s, @options[:version].to_s]
      known[key] ||= @options[:path] ? from_path(File.expand_path(@options[:path])) : of_platform(*key.last(2))
    end

    private

    def from_path(path)
      return ::JSON.parse(File.read(path)) if File.exist?(path)
      raise Exception::InvalidPlatform.new("You specified a path to a JSON file on the local system that does not " \
        "exist: '#{path}'")
    end
    def of_platform(platform, version)
      text = Fauxhai.text_of(platform, version)
      return ::JSON.parse(text) if text
      Shipped.of(platform, version) || raise(Exception::InvalidPlatform.new("#{platform}/#{version}"))
    end
  end

  # Attributes of a small machine with documentation addresses.
  module Shipped
    def self.of(platform, version)
      return chefspec if platform == "chefspec"
      row = RSpec::Core::Systems.find(platform == "opensuseleap" ? "opensuse" : platform, version)
      row && common(row).merge(of_family(row))
    end

    def self.chefspec
      { "hostname" => "chefspec", "machinename" => "chefspec", "fqdn" => "chefspec.local", "domain" => "local",
        "ipaddress" => "127.0.0.1", "os" => "chefspec", "os_version" => "0.6.1", "platform" => "chefspec",
        "platform_version" => "0.6.1", "platform_family" => "chefspec",
        "kernel" => { "name" => "chefspec", "release" => "0.6.1", "machine" => "x86_64" } }
    end

    def self.common(row)
      { "platform" => row.platform == "opensuse" ? "opensuseleap" : row.platform, "platform_version" => row.version,
        "platform_family" => row.family, "os" => "linux", "os_version" => row.kernel,
        "hostname" => "Fauxhai", "machinename" => "Fauxhai", "fqdn" => "fauxhai.local", "domain" => "local",
        "ipaddress" => "10.0.0.2", "macaddress" => "11:11:11:11:11:11", "current_user" => "fauxhai",
        "init_package" => "systemd", "root_group" => "root", "virtualization" => { "systems" => {} },
        "cpu" => { "real" => 1, "total" => 1, "cores" => 1 }, "memory" => { "total" => "1048576kB" },
        "kernel" => { "name" => "Linux", "release" => row.kernel, "version" => "#1 SMP", "machine" => "x86_64",
                      "processor" => "x86_64", "os" => "GNU/Linux", "modules" => {} },
        "languages" => { "ruby" => { "platform" => "x86_64-linux", "version" => "3.1.2",
                                     "bin_dir" => "/usr/local/bin", "gem_bin" => "/usr/local/bin/gem",
                                     "gems_dir" => "/usr/local/gems", "ruby_bin" => "/usr/local/bin/ruby" },
                         "powershell" => nil },
        "lsb" => lsb(row), "chef_packages" => packages, "command" => { "ps" => "ps -ef" },
        "counters" => { "network" => { "interfaces" => {} } }, "filesystem" => filesystem, "network" => network,
        "fips" => { "kernel" => { "enabled" => false } }, "time" => { "timezone" => "GMT" }, "keys" => { "ssh" => {} },
        "shells" => %w[/bin/sh /bin/bash], "packages" => {}, "dmi" => {}, "shard_seed" => 1, "uptime_seconds" => 3600 }
    end
    def self.lsb(row)
      return {} unless row.family == "debian"
      name = row.platform == "ubuntu" ? "Ubuntu #{row.version} LTS" :
        "Debian GNU/Linux #{row.version} (#{row.codename})"
      { "id" => row.name, "description" => name, "release" => row.version, "codename" => row.codename }
    end
    def self.packages
      { "chef" => { "version" => ::Chef::VERSION.to_s, "chef_root" => "/usr/local/gems/chef-#{::Chef::VERSION}/lib" },
        "ohai" => { "version" => "18.2.21", "ohai_root" => "/usr/local/gems/ohai-18.2.21/lib/ohai" } }
    end
    def self.of_family(row)
      row.family == "debian" ? { "etc" => { "passwd" => {}, "group" => {} } } : {}
    end
    def self.filesystem
      root = { "kb_size" => "41943040", "kb_used" => "4194304", "kb_available" => "37748736", "percent_used" => "10%",
               "fs_type" => "ext4", "mount_options" => ["rw"] }
      { "by_device" => { "/dev/sda1" => root.merge("mounts" => ["/"]) },
        "by_mountpoint" => { "/" => root.merge("devices" => ["/dev/sda1"]) },
        "by_pair" => { "/dev/sda1,/" => root.merge("device" => "/dev/sda1", "mount" => "/") } }
    end
    def self.network
      lo = { "mtu" => "65536", "flags" => %w[LOOPBACK UP LOWER_UP], "encapsulation" => "Loopback", "state" => "unknown",
             "addresses" => { "127.0.0.1" => { "family" => "inet", "prefixlen" => "8", "netmask" => "255.0.0.0",
                                               "scope" => "Node" } } }
      one = { "family" => "inet", "prefixlen" => "24", "netmask" => "255.255.255.0", "broadcast" => "10.0.0.255",
              "scope" => "Global" }
      eth = { "number" => "0", "mtu" => "1500", "flags" => %w[BROADCAST MULTICAST UP LOWER_UP], "type" => "eth",
              "encapsulation" => "Ethernet", "state" => "up",
              "addresses" => { "10.0.0.2" => one, "11:11:11:11:11:11" => { "family" => "lladdr" } } }
      { "default_gateway" => "10.0.0.1", "default_interface" => "eth0", "settings" => {},
        "interfaces" => { "lo" => lo, "eth0" => eth } }
    end
  end
end
