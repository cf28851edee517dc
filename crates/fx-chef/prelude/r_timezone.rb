# timezone: the machine's time zone, where systemd or the files of Red Hat's kin keep it.
class Chef
  class Resource
    class Timezone
      # Where neither is, the zone is taken to be right.
      load_current_value do
        if systemd?
          out = fx_look("/usr/bin/timedatectl", "status")
          raise "There was an error running the timedatectl command" if out.error?
          timezone out.stdout[/Time zone: (.*) \(.*/, 1]
        elsif %w{rhel amazon}.include?(node["platform_family"]) && ::File.exist?("/etc/sysconfig/clock")
          timezone ::File.read("/etc/sysconfig/clock")[/ZONE="(.*)"/, 1]
        end
      end

      action :set do
        zone = new_resource.timezone
        converge_if_changed(:timezone) do
          if systemd?
            package suse? ? "timezone" : "tzdata"
            shell_out!(["/usr/bin/timedatectl", "--no-ask-password", "set-timezone", zone])
          elsif %w{rhel amazon}.include?(node["platform_family"])
            package "tzdata"
            file "/etc/sysconfig/clock" do
              owner "root"
              group "root"
              mode "0644"
              content "ZONE=\"#{zone}\"\nUTC=\"true\"\n"
            end
            tool = "/usr/sbin/tzdata-update"
            execute "tzdata-update" do
              command tool
              action :nothing
              only_if { ::File.executable?(tool) }
              subscribes :run, "file[/etc/sysconfig/clock]", :immediately
            end
            link "/etc/localtime" do
              to "/usr/share/zoneinfo/#{zone}"
              not_if { ::File.executable?(tool) }
            end
          end
        end
      end
    end
  end
end
