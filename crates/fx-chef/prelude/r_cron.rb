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
        r = new_resource
        @now, @wanted, @same = FX.cron_entry(r.user, r.name, entry)
      rescue SystemCallError, Chef::Exceptions::Cron => e
        raise Chef::Exceptions::Cron, "Error determining state of #{r.name}, error: #{e}"
      end
      # Variables, when it runs, and what it runs.
      def entry
        r = new_resource
        at = r.time || [r.minute, r.hour, r.day, r.month, r.weekday]
        [FxCron.variables(r), at, "#{FxCron.duration(r.time_out)}#{r.command}"]
      end
      def about(from, to)
        fx_about(:cron, "#{new_resource.user}:#{new_resource.name}", entry: [from || "absent", to || "absent"])
      end
      def store(entry)
        r = new_resource
        shell_out!(*FX.cron_words(r.user), input: FX.cron_table(r.user, r.name, entry))
      end
      def action_create
        return if @same
        word = @now ? "update" : "add"
        fx_change("#{word} crontab entry for #{new_resource}", about(@now, @wanted)) { store(entry) }
      end
      def action_delete
        return unless @now
        fx_change("delete #{new_resource.name} from crontab", about(@now, nil)) { store(nil) }
      end
    end
  end
end
