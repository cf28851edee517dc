# Chef::Config: settings by name, with the defaults cookbooks ask for.
class Chef
  class Config
    DEFAULTS = {
      why_run: false, color: false, log_level: :auto, log_location: nil, verbose_logging: nil, solo: false,
      solo_legacy_mode: false,
      local_mode: false, resource_unified_mode_default: true, treat_deprecation_warnings_as_errors: false,
      file_backup_path: nil,
      environment: nil, node_name: nil, http_proxy: nil, https_proxy: nil, no_proxy: nil, ssl_verify_mode: :verify_peer,
      rest_timeout: 300, http_retry_count: 5, http_retry_delay: 5,
      yum_timeout: 120, file_atomic_update: true, count_log_resource_updates: false, stream_execute_output: false,
      show_download_progress: false,
      diff_disabled: false, diff_filesize_threshold: 10_000_000, diff_output_threshold: 1_000_000,
      enforce_path_sanity: false, enforce_default_paths: false,
      minimal_ohai: false, rubygems_url: nil, clear_gem_sources: nil, no_lazy_load: true,
      lockfile: nil,
      policy_name: nil, policy_group: nil, use_policyfile: false, deployment_group: nil, interval: nil, splay: nil,
      once: nil, daemonize: nil,
      client_fork: nil, fips: false, internal_locale: "C.UTF-8", ez: false, run_lock_timeout: nil,
      enable_selinux_file_permission_fixup: true,
      always_dump_stacktrace: false, recipe_url: nil, encrypted_data_bag_secret: nil,
      authentication_protocol_version: "1.1", local_key_generation: true, follow_client_key_symlink: false,
      client_registration_retries: 5, cookbook_sync_threads: 10, skip_cookbook_sync: false, verify_api_cert: false,
      enable_reporting_url_fatals: false, client_key_contents: nil, custom_http_headers: nil, ssl_ca_file: nil,
      ssl_ca_path: nil, ssl_client_cert: nil, ssl_client_key: nil, policy_document_native_api: true,
      treat_secrets_as_sensitive: false, user_valid_regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/],
      group_valid_regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/],
      resource_reporting: true, json_attribs: nil, override_runlist: nil, pid_file: nil, ohai_segment_plugin_path: nil,
      config_file: nil, skip_gem_metadata_installation: false,
      exit_status: nil, max_retries: nil, zypper_check_gpg: true, automatic_attribute_whitelist: nil,
      default_attribute_whitelist: nil, formatters: nil, enable_reporting: true, target_mode: nil,
      windows_service: nil, chef_guid: nil, profile: nil, disable_event_loggers: false, accept_license: nil,
      chef_license: nil, script_path: nil, node_path: nil, gem_installer_bundler_options: {},
    }.freeze
    LISTS = %i{start_handlers report_handlers exception_handlers event_handlers}.freeze
    @values = {}
    # What was found for a symbol, until a setting changes.
    @found = {}
    class << self
      def [](key)
        found = @found[key]
        return found if found || @found.key?(key)
        name = key.to_sym
        @found[name] = @values.key?(name) ? @values[name] : compute(name)
      end
      alias get []

      def []=(key, value)
        @found = {}
        @values[key.to_sym] = value
      end
      def store(key, value) = self[key] = value
      def given?(key) = @values.key?(key.to_sym)
      def key?(key) = @values.key?(key.to_sym) || DEFAULTS.key?(key.to_sym)
      alias has_key? key?
      def to_hash = DEFAULTS.merge(@values)
      alias save to_hash
      alias to_h to_hash
      alias configuration to_hash
      def keys = to_hash.keys
      def each(&block) = to_hash.each(&block)
      def fetch(key, default = nil) = key?(key) ? self[key] : default
      def delete(key)
        @found = {}
        @values.delete(key.to_sym)
      end
      def merge!(hash)
        hash.each { |k, v| self[k] = v }
        self
      end
      def reset
        @found = {}
        @values = {}
      end
      def default(name, value = nil) = @values.key?(name) ? nil : self[name] = block_given? ? yield : value
      def configurable(*_) = self
      def config_context(name)
        c = Context.new
        self[name] = c
        c.instance_eval(&Proc.new) if block_given?
        c
      end

      def compute(key)
        case key
        when :start_handlers, :report_handlers, :exception_handlers, :event_handlers then @values[key] = []
        when :ohai
          @values[key] = Context
            .new(disabled_plugins: [], optional_plugins: [], plugin_path: [], hints_path: ["/etc/chef/ohai/hints"])
        when :knife, :chef_zero, :tools, :chefcli then @values[key] = Context.new
        when :cookbook_path then [path_under("cookbooks")]
        when :cookbook_artifact_path then path_under("cookbook_artifacts")
        when :role_path then path_under("roles")
        when :environment_path then path_under("environments")
        when :data_bag_path then path_under("data_bags")
        when :node_path then path_under("nodes")
        when :policy_path then path_under("policies")
        when :policy_group_path then path_under("policy_groups")
        when :chef_repo_path
          self[:cookbook_path_given] ? ::File.dirname(Array(self[:cookbook_path_given]).first) : find_repo(FX.cwd)
        when :file_cache_path then "#{self[:cache_path]}/cache"
        when :file_backup_path then "#{self[:cache_path]}/backup"
        when :cache_path
          self[:local_mode] ? "#{Array(self[:chef_repo_path]).first}/.chef/local-mode-cache" : "/var/chef"
        when :chef_server_url then self[:local_mode] ? "chefzero://localhost:1" : "https://localhost:443"
        when :client_key, :validation_key
          self[:local_mode] ? nil : "#{self[:config_dir]}/#{key == :client_key ? "client" : "validation"}.pem"
        when :trusted_certs_dir then "#{self[:config_dir]}/trusted_certs"
        when :validation_client_name
          org = self[:chef_server_url].to_s[%r{/organizations/([^/]+)\z}, 1]
          org ? "#{org}-validator" : "chef-validator"
        when :config_dir
          file = self[:config_file]
          file ? ::File.dirname(::File.expand_path(file)) : "/etc/chef"
        when :chef_guid_path then "#{self[:config_dir]}/chef_guid"
        when :root_path then "/etc/chef"
        when :etc_chef_dir then "/etc/chef"
        when :data_collector then @values[key] = Context.new
        else DEFAULTS[key]
        end
      end

      # The first directory here or above that has cookbooks in it.
      def find_repo(cwd)
        dir = cwd
        until %w{cookbooks cookbook_artifacts}.any? { |n| ::File.directory?("#{dir}/#{n}") }
          return cwd if dir == ::File.dirname(dir)
          dir = ::File.dirname(dir)
        end
        dir
      end

      def path_under(name)
        Array(self[:chef_repo_path]).map { |p| "#{p}/#{name}" }.first
      end

      def etc_chef_dir(*) = "/etc/chef"
      def var_chef_dir(*) = "/var/chef"
      def platform_specific_path(path) = path
      def add_formatter(name, path = nil) = (self[:formatters] ||= []) << [name.to_s, path]
      def add_event_logger(*) = nil
      def cookbook_path(v = NOT_PASSED) = setting(:cookbook_path, v)
      def setting(name, v)
        return self[name] if v.equal?(NOT_PASSED)
        @values[:cookbook_path_given] = v if name == :cookbook_path
        self[name] = v
      end
      def from_file(path)
        raise Errno::ENOENT, path unless FX.file?(path) || ::File.symlink?(path)
        FX.eval_file(path, self)
      end
      def from_string(text, path = "(config)") = instance_eval(text, path, 1)
      def guess_internal_locale = "C.UTF-8"
      def env = ENV

      def method_missing(name, *args, &block)
        s = name.name
        if s.end_with?("=")
          self[s.chomp("=").to_sym] = args[0]
        elsif args.empty?
          v = self[name]
          v.instance_eval(&block) if block && v.is_a?(Context)
          v
        elsif args.size == 1
          self[name] = args[0]
        else
          self[name] = args
        end
      end

      def respond_to_missing?(*) = true
    end

    # A nested group of settings such as `ohai.disabled_plugins`.
    class Context
      def initialize(values = {}) = @values = values
      def [](key) = @values[key.to_sym]
      def []=(key, value)
        @values[key.to_sym] = value
      end
      def key?(key) = @values.key?(key.to_sym)
      def to_hash = @values
      alias to_h to_hash
      def method_missing(name, *args)
        s = name.name
        return self[s.chomp("=")] = args[0] if s.end_with?("=")
        return self[name] = args[0] unless args.empty?
        self[name]
      end
      def respond_to_missing?(*) = true
    end
  end
end
module Mixlib
  module Config
    def self.extended(base) = nil
  end
end
