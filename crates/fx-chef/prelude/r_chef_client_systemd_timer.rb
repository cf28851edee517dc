# chef_client_systemd_timer: runs the client by a timer of systemd.
class Chef
  class Resource
    class ChefClientSystemdTimer
      property :cpu_quota, [Integer, String], coerce: proc { |v| v.is_a?(String) ? Integer(v, 10) : v }
    end
  end
  class Provider
    class ChefClientSystemdTimer < FxComposite
      action(:add) do
        r = new_resource
        command = [r.chef_binary_path, *r.daemon_options, *(r.accept_chef_license ? ["--chef-license accept"] : []),
          "-c #{::File.join(r.config_directory, "client.rb")}"].join(" ")
        service = {
          "Unit" => { "Description" => r.description, "After" => "network.target auditd.service" },
          "Service" => { "Type" => "oneshot", "ExecStart" => command, "SuccessExitStatus" => [3, 213, 35, 37, 41] },
          "Install" => { "WantedBy" => "multi-user.target" },
        }
        service["Service"]["UMask"] = r.service_umask if r.service_umask
        service["Service"]["ConditionACPower"] = "true" unless r.run_on_battery
        service["Service"]["CPUQuota"] = "#{r.cpu_quota}%" if r.cpu_quota
        service["Service"]["Environment"] = r.environment.map { |k, v| "\"#{k}=#{v}\"" } unless r.environment.empty?
        timer = {
          "Unit" => { "Description" => r.description },
          "Timer" => { "OnBootSec" => r.delay_after_boot, "OnUnitActiveSec" => r.interval,
          "RandomizedDelaySec" => r.splay },
          "Install" => { "WantedBy" => "timers.target" },
        }
        declare_resource(:systemd_unit, "#{r.job_name}.service") do
          content service
          action :create
        end
        declare_resource(:systemd_unit, "#{r.job_name}.timer") do
          content timer
          action %i{create enable start}
        end
      end
      action(:remove) do
        name = new_resource.job_name
        %w{service timer}.each { |kind| declare_resource(:systemd_unit, "#{name}.#{kind}") { action :delete } }
      end
    end
  end
end
