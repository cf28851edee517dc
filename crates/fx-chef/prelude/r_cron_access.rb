# cron_access: who may use cron.
class Chef
  class Provider
    class CronAccess < FxComposite
      %i{allow deny}.each do |what|
        action(what) do
          file = "/etc/cron.#{what}"
          have = ::File.exist?(file) ? ::File.readlines(file).map(&:chomp).reject(&:empty?) : []
          body = (have | [new_resource.user]).join("\n") + "\n"
          declare_resource(:template, file) do
            self.fx_content = body
            mode "0600"
          end
        end
      end
    end
  end
end
