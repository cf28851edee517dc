# mdadm: a software RAID.
class Chef
  class Provider
    class Mdadm < Chef::Provider
      def load_current_resource
        status = fx_look("mdadm", "--detail", "--test", new_resource.raid_device).exitstatus
        @there = status != 4
      end
      # It asks before it writes over what is there.
      def run(verb, *words)
        states = verb == "stop" ? %w{running stopped} : %w{absent running}
        fx_change("#{verb} RAID device #{new_resource.raid_device}",
          fx_about(:mdadm, new_resource.raid_device, ensure: states)) do
          fx_tool!("mdadm", *words, input: "y\n" * 64)
        end
      end
      def action_create
        r = new_resource
        return if @there
        words = ["--create", r.raid_device, "--level", r.level]
        words << "--chunk=#{r.chunk}" unless r.level == 1
        words << "--metadata=#{r.metadata}"
        words << "--bitmap=#{r.bitmap}" if r.bitmap
        words << "--layout=#{r.layout}" if r.layout
        run("create", *words, "--raid-devices", r.devices.length, *r.devices)
      end
      def action_assemble
        run("assemble", "--assemble", new_resource.raid_device, *new_resource.devices) unless @there
      end
      def action_stop
        run("stop", "--stop", new_resource.raid_device) if @there
      end
    end
  end
end
