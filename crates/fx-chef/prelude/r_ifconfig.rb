# ifconfig: an interface's address, through net-tools.
class Chef
  class Provider
    class Ifconfig < FxComposite
      def load_current_resource
        version = fx_look("ifconfig", "--version").then do |o|
          (o.stdout.to_s + o.stderr.to_s)[/^net-tools (\d+\.\d+)/, 1]
        end
        raise "net-tools not found - this is required for ifconfig" if version.nil?
        status = fx_look("ifconfig")
        raise Chef::Exceptions::Ifconfig, "ifconfig failed - #{status.inspect}!" unless status.exitstatus == 0
        block = status.stdout.split(/\n(?=\S)/).find { |b| b[/\A([\w.-]+(?::\d+)?):? /, 1] == new_resource.device }
        @there = !block.nil?
        @address = block && (block[/inet (?:addr:)?(\S+)/, 1])
      rescue Errno::ENOENT
        raise "net-tools not found - this is required for ifconfig"
      end
      def up
        r = new_resource
        command = ["ifconfig", r.device, r.target]
        command += ["netmask", r.mask] if r.mask
        command += ["metric", r.metric] if r.metric
        command += ["mtu", r.mtu] if r.mtu
        command
      end
      def run(command, verb)
        to = %w{add enable}.include?(verb) ? new_resource.target : "down"
        fx_change("run #{command.join(" ")} to #{verb} #{new_resource}",
          fx_about(:interface, new_resource.device, address: [@address, to])) do
          shell_out!(*command)
        end
      end
      def config_path
        case node["platform_family"]
        when "debian" then "/etc/network/interfaces.d/ifcfg-#{new_resource.device}"
        when "rhel", "fedora", "amazon" then "/etc/sysconfig/network-scripts/ifcfg-#{new_resource.device}"
        end
      end
      def config
        r = new_resource
        return debian_config unless %w{rhel fedora amazon}.include?(node["platform_family"])
        rows = { "DEVICE" => r.device, "ONBOOT" => r.onboot == "yes" ? "yes" : r.onboot, "BOOTPROTO" => r.bootproto,
          "NETMASK" => r.mask, "NETWORK" => r.network, "BROADCAST" => r.bcast, "HWADDR" => r.hwaddr,
          "METRIC" => r.metric, "MTU" => r.mtu, "ONPARENT" => r.onparent,
                 "ETHTOOL_OPTS" => r.ethtool_opts && "\"#{r.ethtool_opts}\"",
                 "BONDING_OPTS" => r.bonding_opts && "\"#{r.bonding_opts}\"", "MASTER" => r.master, "SLAVE" => r.slave,
                 "VLAN" => r.vlan, "GATEWAY" => r.gateway, "BRIDGE" => r.bridge }
        rows["IPADDR"] = r.target if r.target && r.bootproto != "dhcp"
        rows.compact.map { |k, v| "#{k}=#{v}\n" }.join
      end
      def debian_config
        r = new_resource
        lines = []
        lines << "auto #{r.device}" if r.onboot == "yes"
        case r.bootproto
        when "dhcp" then lines << "iface #{r.device} #{r.family} dhcp"
        when "bootp" then lines << "iface #{r.device} #{r.family} bootp"
        else
          lines << "iface #{r.device} #{r.family} static"
          { address: r.target, netmask: r.mask, broadcast: r.bcast, metric: r.metric,
            hwaddress: r.hwaddr && "ether #{r.hwaddr}", mtu: r.mtu, gateway: r.gateway }
            .each { |k, v| lines << "    #{k} #{v}" if v }
        end
        lines.join("\n") + "\n"
      end
      action(:add) do
        run(up, "add") if !@address && new_resource.device != "lo"
        path, text = config_path, config
        if path
          if node["platform_family"] == "debian"
            declare_resource(:directory, "/etc/network/interfaces.d")
            main = "/etc/network/interfaces"
            had = ::File.exist?(main) ? ::File.read(main) : ""
            unless had.match?(%r{^\s*source(-directory)?\s+#{main}\.d})
              declare_resource(:file, main) do
                content "#{had}#{"\n" unless had.empty? || had.end_with?("\n")}source #{main}.d/*\n"
              end
            end
          end
          declare_resource(:file, path) { content text }
        end
      end
      action(:enable) { run(up, "enable") if !@address && new_resource.device != "lo" }
      action(:disable) { run(["ifconfig", new_resource.device, "down"], "disable") if @there }
      action(:delete) do
        run(["ifconfig", new_resource.device, "down"], "delete") if @there
        path = config_path
        declare_resource(:file, path) { action :delete } if path
      end
    end
  end
end
