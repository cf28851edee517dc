# hostname: the name of the machine, now, in /etc/hosts and at boot.
class Chef
  class Resource
    class Hostname
      property :ipaddress, String, default: lazy { node["ipaddress"] }

      action_class do
        # The file without the lines that fit, and with this one at its end.
        def replace_lines(path, fits, line)
          kept = ::IO.read(path).split("\n").grep_v(fits) << line
          file path do
            content kept.join("\n") + "\n"
            owner "root"
            group node["root_group"]
            mode "0644"
            not_if { ::IO.read(path).split("\n").include?(line) }
          end
        end

        def own_file(path, text)
          r = file path do
            content text
            owner "root"
            group node["root_group"]
            mode "0644"
          end
          r.atomic_update(false) if path == "/etc/hostname" && docker?
        end

        def remember(name)
          if ::File.exist?("/usr/bin/hostnamectl") && !docker?
            execute "hostnamectl set-hostname #{name}" do
              self.fx_words = ["hostnamectl", "set-hostname", "--", name]
              notifies :reload, "ohai[reload hostname]"
              not_if do
                fx_look!("hostnamectl", "status", returns: [0, 1]).stdout
                  .match?(/Static hostname:\s*#{Regexp.escape(name)}\s*$/)
              end
            end
          elsif ::File.exist?("/etc/hostname") then own_file("/etc/hostname", "#{name}\n")
          elsif ::File.file?("/etc/sysconfig/network") then replace_lines(
            "/etc/sysconfig/network", /^HOSTNAME\s*=/, "HOSTNAME=#{name}")
          elsif ::File.exist?("/etc/HOSTNAME") then own_file("/etc/HOSTNAME", "#{name}\n")
          elsif ::File.exist?("/etc/conf.d/hostname") then own_file("/etc/conf.d/hostname", "hostname=\"#{name}\"\n")
          else replace_lines("/etc/sysctl.conf", /^\s+kernel\.hostname\s+=/, "kernel.hostname=#{name}")
          end
        end
      end

      action :set do
        r = new_resource
        name = r.hostname
        ohai "reload hostname" do
          plugin "hostname"
          action :nothing
        end
        execute "set hostname to #{name}" do
          command "/bin/hostname #{name}"
          self.fx_words = ["/bin/hostname", "--", name]
          not_if { fx_look!("hostname").stdout.chomp == name }
          notifies :reload, "ohai[reload hostname]"
        end
        unless r.ipaddress.nil?
          full = r.fqdn.to_s.empty? ? nil : r.fqdn
          line = [r.ipaddress, full, name, *r.aliases, name[/[^.]*/]].compact.join(" ")
          hosts = replace_lines("/etc/hosts", /^#{Regexp.escape(r.ipaddress)}\s+|\s+#{Regexp.escape(name)}\s+/, line)
          hosts.atomic_update(false) if docker?
          hosts.notifies :reload, "ohai[reload hostname]"
        end
        remember(name)
      end
    end
  end
end
