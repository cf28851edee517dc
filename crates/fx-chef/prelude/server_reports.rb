# What a run sends to its server about itself: to the data collector, and to the reporting service.
# A server that has neither says so at the start, and nothing more is sent.
class Chef
  module FxServerReports
    # Tells the server that a run begins; those who want to hear its end listen from now on.
    def self.start(status, node, events)
      return if FX.leaves_server?
      [Collector, Runs].each do |kind|
        sender = kind.new(status, node)
        events.register(Listener.new(sender, status, node)) if sender.begun?
      end
    end
    # Who hears nobody needs nothing of what a run did.
    autoload :Listener, "prelude:chef/server_listener.rb"

    class Sender
      def initialize(status, node) = (@run, @of, @api = status, node, Chef::ServerAPI.new)
      def post(path, body, headers = {}) = FX.own_state { @api.exchange("POST", path, headers, body) }
    end

    class Collector < Sender
      def url = settings[:server_url] || "#{Chef::Config[:chef_server_url].to_s.chomp("/")}/data-collector"
      def settings = Chef::Config[:data_collector]
      def headers
        token = settings[:token]
        token ? { "x-data-collector-token" => token, "x-data-collector-auth" => "version=1.0" } : {}
      end
      def common
        server = Chef::Config[:chef_server_url].to_s
        {
          "chef_server_fqdn" => server[%r{\A\w+://\[?([^\]/:]+)}, 1].to_s, "entity_uuid" => @of["chef_guid"],
          "id" => @run.run_id, "node_name" => @of.name, "run_id" => @run.run_id, "source" => "chef_client",
          "organization_name" => server[%r{/organizations/([^/]+)}, 1] || settings[:organization] ||
            "unknown_organization",
          "start_time" => RunStatus.fx_stamp(@run.start_time),
        }
      end
      def begun?
        return false if settings[:server_url].nil? && settings[:token]
        send_message("run start", common.merge("message_version" => "1.0.0", "message_type" => "run_start"))
      end
      def finish(listener, node, status, error)
        made = listener.message(node, status, error).merge(common)
        made.merge!("node" => FxKeptNode.of(node), "policy_name" => node.policy_name,
          "policy_group" => node.policy_group,
          "cookbooks" => (node["cookbooks"] || {}).to_h { |n, c| [n, { "version" => c["version"] }] })
        send_message("run end", made)
      end
      # Whether it was taken; an answer of 404 means that there is no collector.
      def send_message(what, message)
        post(url, FX.json(message), headers)
        true
      rescue Net::HTTPServerException, Net::HTTPFatalError, SystemCallError, SocketError, Timeout::Error => e
        code = e.respond_to?(:response) && e.response ? e.response.code : "Exception Code Empty"
        return false if code == "404"
        text = "Error while reporting #{what} to Data Collector. URL: #{url} Exception: #{code} -- #{e.message} "
        if settings[:raise_on_failure]
          Chef::Log.error(text)
          raise
        end
        Chef::Log.warn(text)
        false
      end
    end

    class Runs < Sender
      def headers(more = {}) = { "X-Ops-Reporting-Protocol-Version" => "0.1.0" }.merge(more)
      def path = "reports/nodes/#{FxServerStore.escape(@of.name)}/runs"
      def begun?
        return false unless Chef::Config[:enable_reporting]
        body = { "action" => "start", "run_id" => @run.run_id, "start_time" => @run.start_time.to_s }
        post(path, FX.json(body), headers)
        true
      rescue Net::HTTPServerException, Net::HTTPFatalError, Timeout::Error, Errno::ECONNRESET => e
        code = e.respond_to?(:response) && e.response ? e.response.code : "Exception Code Empty"
        return false if code == "404"
        text = "Reporting error starting run. URL: #{path} Exception: #{code} "
        if Chef::Config[:enable_reporting_url_fatals]
          Chef::Log.error("#{text}Reporting fatals enabled. Aborting run. ")
          raise
        end
        Chef::Log.info("#{text}Disabling reporting for run.")
        false
      end
      def finish(listener, node, _status, error)
        data = run_data(listener, node, error)
        Chef::Log.info("Sending resource update report (run-id: #{@run.run_id})")
        require "zlib"
        post("#{path}/#{@run.run_id}", Zlib.gzip(FX.json(data)), headers("Content-Encoding" => "gzip"))
      rescue StandardError => e
        return Chef::Log.error("Failed to post reporting data to server (#{e})") unless e.respond_to?(:response)
        Chef::FileCache.store("failed-reporting-data.json", Chef::JSONCompat.to_json_pretty(data), 0640)
        Chef::Log.error("Failed to post reporting data to server (HTTP #{e.response.code}), saving to " \
          "#{Chef::FileCache.path("failed-reporting-data.json")}")
      end
      def run_data(listener, node, error)
        updated = listener.updated
        out = {
          "action" => "end", "resources" => updated, "status" => error ? "failure" : "success",
          "run_list" => FX.json(node.run_list.map(&:to_s)), "total_res_count" => updated.size.to_s, "data" => {},
          "start_time" => @run.start_time.to_s, "end_time" => @run.end_time.to_s,
          "expanded_run_list" => FX.json(listener.message(node, @run, error)["expanded_run_list"]),
        }
        if error
          out["data"]["exception"] = { "class" => error.inspect, "message" => error.message,
            "backtrace" => FX.json(error.backtrace || []), "description" => {} }
        end
        out
      end
    end
  end
end
