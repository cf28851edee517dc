# Handlers that ship with the client.
require "json"
class Chef
  class Handler
    class JsonFile < Chef::Handler
      def initialize(config = {})
        @config = config
        @config[:path] ||= "/var/chef/reports"
      end
      def report
        require "fileutils"
        file = ::File.join(@config[:path], "chef-run-report-#{end_time.strftime("%Y%m%d%H%M%S")}.json")
        FX.own_state do
          FileUtils.mkdir_p(@config[:path])
          ::File.write(file, ::JSON.pretty_generate(fx_data))
        end
      end
      # The run's status with each resource as its class and variables.
      def fx_data
        status = run_status.to_hash
        shown = status.to_h do |k, v|
          [k.to_s, v.is_a?(Array) && v.first.is_a?(Chef::Resource) ? v.map { |r| Chef::FxReporter.plain(r.as_json) } :
            Chef::FxReporter.plain(v)]
        end
        shown["node"] = { "name" => node.name, "chef_environment" => node.chef_environment,
          "json_class" => "Chef::Node", "chef_type" => "node", "run_list" => node.run_list.map(&:to_s),
                          "automatic" => Chef::FxReporter.plain(node.automatic.to_hash),
                          "normal" => Chef::FxReporter.plain(node.normal.to_hash),
                          "default" => Chef::FxReporter.plain(node.default.to_hash),
                          "override" => Chef::FxReporter.plain(node.override.to_hash) } if node
        shown
      end
    end
    class ErrorReport < Chef::Handler
      def report
        Chef::FileCache.store(
          "failed-run-data.json", ::JSON.pretty_generate(run_status.to_hash.transform_values(&:to_s)), 0640)
      end
    end
  end
end
