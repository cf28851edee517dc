# cron: an entry in a user's crontab, known by the comment above it.
FX.load("chef/cron_shared.rb")
class Chef
  class Resource
    Chef::FxCron.install(Cron)
    class Cron
      def time(v = nil)
        return @time if v.nil?
        unless %i{annually daily hourly midnight monthly reboot weekly yearly}.include?(v)
          raise Chef::Exceptions::ValidationFailed,
            "Option time must be equal to one of: :reboot, :yearly, :annually, :monthly, :weekly, :daily, :midnight, " \
            ":hourly!  You passed #{v.inspect}."
        end
        @time = v
      end
    end
  end
  class Provider
    class Cron < Chef::Provider
      def load_current_resource
        begin
          out = fx_look("crontab", "-l", "-u", new_resource.user)
        rescue SystemCallError => e
          raise Chef::Exceptions::Cron, "Error determining state of #{new_resource.name}, error: #{e}"
        end
        @table = out.exitstatus == 0 ? out.stdout : ""
        lines = @table.lines.map(&:chomp)
        at = lines.index(marker)
        @before = at ? lines[0...at] : lines
        @entry = nil
        @after = []
        return unless at
        stop = at + 1
        stop += 1 while lines[stop] && lines[stop].match?(/\A[A-Za-z_]\w*=/)
        @entry = lines[at..stop]
        @after = lines[(stop + 1)..] || []
      end
      def marker = "# Chef Name: #{new_resource.name}"
      def entry
        r = new_resource
        when_ = r.time ? "@#{r.time}" : [r.minute, r.hour, r.day, r.month, r.weekday].join(" ")
        [marker, *FxCron.variables(r), "#{when_} #{FxCron.duration(r.time_out)}#{r.command}"]
      end
      def about(from, to)
        fx_about(:cron, "#{new_resource.user}:#{new_resource.name}", entry: [from || "absent", to || "absent"])
      end
      def store(lines)
        text = lines.join("\n")
        text += "\n" unless text.empty?
        shell_out!("crontab", "-u", new_resource.user, "-", input: text)
      end
      def action_create
        return if @entry == entry
        fx_change(@entry ? "update crontab entry for #{new_resource}" : "add crontab entry for #{new_resource}",
          about(@entry, entry)) do
          store(@before + entry + @after)
        end
      end
      def action_delete
        return unless @entry
        fx_change("delete #{new_resource.name} from crontab", about(@entry, nil)) { store(@before + @after) }
      end
    end
  end
end
