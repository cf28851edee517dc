# hostname: the name of the machine.
class Chef
  class Resource
    class Hostname
      property :ipaddress, String, default: lazy { node["ipaddress"] }
    end
  end
  class Provider
    class Hostname < FxComposite
      action(:set) do
        r = new_resource
        name = r.hostname
        if shell_out("hostname").stdout.strip != name
          declare_resource(:file, "/etc/hostname") do
            content "#{name}\n"
            owner "root"
            mode "0644"
          end
          declare_resource(:execute, "set hostname to #{name}") { command "/bin/hostname #{name}" }
        end
        if r.ipaddress
          lines = ::File.exist?("/etc/hosts") ? ::File.readlines("/etc/hosts") : []
          want = [r.ipaddress, name, *(r.aliases || []), *(name.include?(".") ? [name.split(".")[0]] : [])].join(" ")
          rest = lines.reject { |l| l.split[0] == r.ipaddress }
          body = rest.join + "#{want}\n"
          body = lines.join if lines.any? { |l| l.strip.split(/\s+/) == want.split }
          declare_resource(:file, "/etc/hosts") { content body }
        end
      end
    end
  end
end
