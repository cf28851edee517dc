# timezone: the machine's time zone.
class Chef
  class Provider
    class Timezone < Chef::Provider
      def load_current_resource
        @now = ::File.symlink?("/etc/localtime") ? ::File.readlink("/etc/localtime").sub(%r{\A.*zoneinfo/}, "") : (::File.exist?("/etc/timezone") ? ::File.read("/etc/timezone").strip : nil)
      end
      def action_set
        zone = new_resource.timezone
        return if @now == zone
        raise Chef::Exceptions::ValidationFailed, "no such time zone: #{zone}" unless ::File.exist?("/usr/share/zoneinfo/#{zone}") || Chef::Config[:why_run]
        converge_by("set timezone to #{zone}") do
          if ::File.directory?("/run/systemd/system")
            shell_out!("timedatectl", "--no-ask-password", "set-timezone", zone)
          else
            ::File.unlink("/etc/localtime") if ::File.exist?("/etc/localtime") || ::File.symlink?("/etc/localtime")
            ::File.symlink("/usr/share/zoneinfo/#{zone}", "/etc/localtime")
            ::File.write("/etc/timezone", "#{zone}\n") if ::File.exist?("/etc/timezone")
          end
        end
      end
    end
  end
end
