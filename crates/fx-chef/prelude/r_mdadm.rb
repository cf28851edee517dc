# mdadm: a software RAID.
class Chef
  class Provider
    class Mdadm < Chef::Provider
      def load_current_resource
        status = shell_out("mdadm", "--detail", "--test", new_resource.raid_device).exitstatus
        @there = status != 4
      end
      def run(command, verb)
        converge_by("#{verb} RAID device #{new_resource.raid_device}") { shell_out!(command) }
      end
      def action_create
        r = new_resource
        return if @there
        command = "yes | mdadm --create #{r.raid_device} --level #{r.level}"
        command << " --chunk=#{r.chunk}" unless r.level == 1
        command << " --metadata=#{r.metadata}"
        command << " --bitmap=#{r.bitmap}" if r.bitmap
        command << " --layout=#{r.layout}" if r.layout
        command << " --raid-devices #{r.devices.length} #{r.devices.join(" ")}"
        run(command, "create")
      end
      def action_assemble
        run("yes | mdadm --assemble #{new_resource.raid_device} #{new_resource.devices.join(" ")}", "assemble") unless @there
      end
      def action_stop
        run("yes | mdadm --stop #{new_resource.raid_device}", "stop") if @there
      end
    end
  end
end
