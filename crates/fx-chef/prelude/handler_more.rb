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
        FileUtils.mkdir_p(@config[:path])
        file = ::File.join(@config[:path], "chef-run-report-#{end_time.strftime("%Y%m%d%H%M%S")}.json")
        status = run_status.to_hash.transform_values { |v| v.is_a?(Array) ? v.map(&:to_s) : v.to_s }
        ::File.write(file, ::JSON.pretty_generate(status))
      end
    end
    class ErrorReport < Chef::Handler
      def report = Chef::FileCache.store("failed-run-data.json", ::JSON.pretty_generate(run_status.to_hash.transform_values(&:to_s)), 0640)
    end
  end
end
