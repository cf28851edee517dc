# What a run did, as the JSON message the original gives to its data collector: written to the
# files the configuration names, never sent anywhere.
class Chef
  class FxReporter < EventDispatch::Base
    def self.files
      return [] unless Chef::Config.given?(:data_collector)
      where = Chef::Config[:data_collector][:output_locations]
      where.is_a?(Hash) ? Array(where[:files] || where["files"]) : []
    end

    def initialize
      super
      @rows = []
      @open = []
      @began = Time.now
    end
    def resource_action_start(resource, action, type = nil, notifier = nil)
      row = {
        resource: resource, action: action, status: "unprocessed", start: Time.now, by: notifier && notifier.to_s
      }
      @rows << row
      @open << row
    end
    def resource_skipped(_, _, conditional)
      @open.last[:status] = "skipped"
      @open.last[:conditional] = conditional.to_text
    end
    def resource_up_to_date(*)
      @open.last && @open.last[:status] == "unprocessed" ? @open.last[:status] = "up-to-date" : nil
    end
    def resource_updated(*) = @open.last && @open.last[:status] = "updated"
    def resource_update_applied(_, _, lines)
      @open.last && (@open.last[:delta] ||= []).concat(Array(lines).flatten.map(&:to_s))
    end
    def resource_failed(_, _, error)
      return unless @open.last
      @open.last[:status] = "failed"
      @open.last[:error] = error
    end
    def resource_completed(*)
      row = @open.pop
      row[:elapsed] = ((Time.now - row[:start]) * 1000).round if row
    end
    def run_completed(node, status) = write(node, status, nil)
    def run_failed(error, status) = write(Chef.node, status, error)

    def write(node, status, error)
      require "json"
      require "fileutils"
      text = ::JSON.generate(message(node, status, error)) + "\n"
      FxReporter.files.each do |path|
        FileUtils.mkdir_p(::File.dirname(path))
        ::File.open(path, "a") { |f| f.write(text) }
      end
    end

    def message(node, status, error)
      counted = @rows.reject { |r| r[:status] == "skipped" && r[:action] == :nothing }
      out = {
        "message_type" => "run_converge", "message_version" => "1.1.0", "source" => "chef_client",
        "chef_server_fqdn" => "localhost", "organization_name" => "chef_solo",
        "id" => status&.run_id, "run_id" => status&.run_id, "node_name" => node&.name,
        "start_time" => stamp(status&.start_time || @began), "end_time" => stamp(Time.now),
        "status" => error ? "failure" : "success", "run_list" => node ? node.run_list.map(&:to_s) : [],
        "expanded_run_list" =>
        { "id" => node&.chef_environment,
          "run_list" => Array(node && node["recipes"])
          .map { |r| { "type" => "recipe", "name" => r, "version" => nil, "skipped" => false } } },
        "total_resource_count" => counted.size, "updated_resource_count" => @rows.count { |r| r[:status] == "updated" },
        "resources" => @rows.map { |r| row(r) }, "deprecations" => [],
      }
      if error
        out["error"] = {
          "class" => error.class.name, "message" => error.message, "backtrace" => error.backtrace || [],
          "description" => {
            
          }
        }
      end
      out
    end

    def row(r)
      resource = r[:resource]
      hidden = resource.fx_secret?
      out = {
        "type" => resource.resource_name.to_s, "name" => resource.name, "id" => identity(resource),
        "after" => hidden ? {} : FxReporter.plain(resource.state_for_resource_reporter), "before" => {},
        "duration" => r[:elapsed].to_i.to_s, "delta" => hidden ? "" : Array(r[:delta]).join("\n"),
        "ignore_failure" => resource.ignore_failure ? true : false, "result" => r[:action].to_s, "status" => r[:status],
      }
      if resource.cookbook_name
        out["cookbook_name"] = resource.cookbook_name
        out["cookbook_version"] = resource.cookbook_version&.version
        out["recipe_name"] = resource.recipe_name
      end
      out["conditional"] = r[:conditional] if r[:conditional]
      out["notified_by"] = r[:by] if r[:by]
      out["error_message"] = r[:error].message if r[:error]
      out
    end
    def identity(resource)
      v = resource.identity
      v.is_a?(Hash) ? v.to_s : v.to_s
    rescue StandardError
      resource.name
    end
    def stamp(time) = RunStatus.fx_stamp(time)

    # Data that JSON knows, of whatever a property holds.
    def self.plain(v, depth = 0)
      return v.to_s if depth > 8
      case v
      when nil, true, false, Integer, Float, String then v
      when Hash then v.to_h { |k, x| [k.to_s, plain(x, depth + 1)] }
      when Array then v.map { |x| plain(x, depth + 1) }
      else v.to_s
      end
    end
  end
end
