# chef_client_config: the client's own configuration file and directories.
class Chef
  class Resource
    class ChefClientConfig
      property :node_name, [String, NilClass], default: lazy { node.name }
      property :ssl_verify_mode, [String, Symbol], equal_to: %i{verify_none verify_peer}, coerce: proc { |m|
        m.is_a?(String) ? m.delete_prefix(":").to_sym : m
      }
      property :no_proxy, [String, Array], default: [], coerce: proc { |v| v.is_a?(Array) ? v.join(",") : v }
      property :ohai_disabled_plugins, Array, default: [], coerce: proc { |v|
        v.map { |p| p.to_s.delete_prefix(":").to_sym }
      }
      property :ohai_optional_plugins, Array, default: [], coerce: proc { |v|
        v.map { |p| p.to_s.delete_prefix(":").to_sym }
      }
      property :directory_specs, Hash, default: {},
        coerce: proc { |h| h.to_h { |k, v| [k.to_sym, v.transform_keys(&:to_sym)] } }
    end
  end
  class Provider
    class ChefClientConfig < FxComposite
      DIRECTORIES = { config: "0750", client_d: "0750", logs: "0755", cache: "0750", backups: "0750" }.freeze
      NAMES = %i{node_name chef_license chef_server_url event_loggers file_backup_path file_cache_path
        file_staging_uses_destdir formatters http_proxy https_proxy ftp_proxy log_level
                 named_run_list no_proxy pid_file policy_group policy_name rubygems_url ssl_verify_mode}.freeze
      def text
        r = new_resource
        out = +""
        NAMES.each do |n|
          r.send(n).then { |v| out << "#{n} #{v.inspect}\n" unless v.nil? || (v.respond_to?(:empty?) && v.empty?) }
        end
        out << "minimal_ohai #{r.minimal_ohai.inspect}\npolicy_persist_run_list #{r.policy_persist_run_list.inspect}\n"
        { "ohai.disabled_plugins" => r.ohai_disabled_plugins, "ohai.optional_plugins" => r.ohai_optional_plugins }
          .each { |n, v| out << "#{n} #{v.inspect}\n" unless v.nil? || v.empty? }
        unless r.log_location.nil?
          out << "log_location " \
            "#{%w{STDOUT STDERR}.include?(r.log_location) ? r.log_location : r.log_location.inspect}\n"
        end
        unless r.data_collector_server_url.to_s.empty?
          out << "data_collector.server_url #{r.data_collector_server_url.inspect}\n"
        end
        out << "data_collector.token #{r.data_collector_token.inspect}\n" unless r.data_collector_token.to_s.empty?
        %i{start report exception}.each do |kind|
          list = r.send(:"#{kind}_handlers")
          next if list.empty?
          out << "  # Do not crash if a#{"n" if kind == :exception} #{kind} handler is missing / not installed yet\n " \
            " begin\n"
          list.each do |h|
            out << "    #{kind}_handlers << #{h["class"] || h[:class]}.new(" \
              "#{Array(h["arguments"] || h[:arguments]).join(",")})\n"
          end
          out << "  rescue NameError => e\n    Chef::Log.error e\n  end\n"
        end
        out << r.additional_config.to_s
      end
      action(:create) do
        r = new_resource
        logs = r.log_location.is_a?(String) && !%w{STDOUT STDERR}.include?(r.log_location) ?
          ::File.dirname(r.log_location) : nil
        paths = {
          config: r.config_directory, client_d: ::File.join(r.config_directory, "client.d"), logs: logs,
          cache: r.file_cache_path || "/var/chef/cache", backups: r.file_backup_path || "/var/chef/backup"
        }
        paths.compact.each do |key, path|
          own = (r.directory_specs || {})[key] || {}
          declare_resource(:directory, path) do
            recursive true
            owner own[:owner] || r.user if own[:owner] || r.user
            group own[:group] || r.group if own[:group] || r.group
            mode own[:mode] || DIRECTORIES[key]
          end
        end
        body = text
        declare_resource(:template, ::File.join(r.config_directory, "client.rb")) do
          owner r.user unless r.user.nil?
          group r.group unless r.group.nil?
          mode r.client_rb_mode
          self.fx_content = body
        end
      end
      action(:remove) do
        path = ::File.join(new_resource.config_directory, "client.rb")
        declare_resource(:file, path) { action :delete }
      end
    end
  end
end
