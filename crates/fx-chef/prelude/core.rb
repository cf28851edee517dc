# The Chef class itself: names that load on first use, and what hangs on the class.
class FxNotPassed
  def to_s = "NOT_PASSED"
  def inspect = "NOT_PASSED"
end
NOT_PASSED = FxNotPassed.new unless defined?(NOT_PASSED)

module ChefUtils
  VERSION = "18.11.21"
  CANARY = 1
  autoload :Mash, "prelude:chef/mash.rb"
  autoload :Dist, "prelude:chef/dist.rb"
  autoload :VersionString, "prelude:chef/version.rb"
  module DSL
    autoload :DefaultPaths, "prelude:chef/paths.rb"
    autoload :PathSanity, "prelude:chef/paths.rb"
    %i{Platform PlatformFamily PlatformVersion OS Architecture Which Service Introspection Virtualization Cloud TrainHelpers Windows}.each do |n|
      autoload n, "prelude:chef/utils.rb"
    end
  end
  autoload :Internal, "prelude:chef/utils.rb"
  def self.method_missing(name, *args, &block)
    const_get(:DSL)::Platform
    return super unless singleton_class.method_defined?(name) || respond_to?(name)
    send(name, *args, &block)
  end
end
autoload :Mash, "prelude:chef/mash.rb"
module Mixlib
  autoload :ShellOut, "prelude:chef/shell_out.rb"
  autoload :Config, "prelude:chef/config.rb"
  autoload :Log, "prelude:chef/log.rb"
  autoload :CLI, "prelude:chef/log.rb"
  autoload :Versioning, "prelude:chef/version.rb"
  autoload :Authentication, "prelude:chef/log.rb"
end
autoload :Ohai, "prelude:chef/ohai.rb"
autoload :Erubis, "prelude:chef/erubis.rb"
autoload :InSpec, "prelude:chef/stubs.rb"

class Chef
  VERSION = "18.11.21"
  CHEF_ROOT = "/opt/chef/embedded/lib/ruby/gems/3.1.0/gems/chef-18.11.21/lib"
  {
    Exceptions: "exceptions", Config: "config", Log: "log", Node: "node", Resource: "resource", Provider: "provider",
    Property: "property", Recipe: "recipe", RunContext: "run_context", Runner: "runner", ResourceCollection: "collection",
    Mixin: "mixin", DSL: "dsl", Util: "util", Client: "client", Application: "application", Handler: "handler",
    EventDispatch: "events", Formatters: "formatters", RunStatus: "handler", DelayedEvaluator: "delayed",
    JSONCompat: "json_compat", DataBag: "data", DataBagItem: "data", EncryptedDataBagItem: "encrypted", Search: "data", Role: "role",
    Environment: "role", RunList: "run_list", VersionConstraint: "version", Version: "version", VersionString: "version", Digester: "digester",
    FileCache: "file_cache", HTTP: "http", ServerAPI: "http", Platform: "platform", NodeMap: "node_map", CookbookVersion: "cookbook",
    Cookbook: "cookbook", CookbookCollection: "cookbook", CookbookLoader: "cookbook", GuardInterpreter: "guard", FileContentManagement: "stubs",
    FileAccessControl: "stubs", Deprecated: "stubs", Decorator: "decorator", Dist: "dist", ReservedNames: "util", ResourceDefinition: "definition",
    ResourceBuilder: "recipe", ResourceResolver: "node_map", ProviderResolver: "node_map", Mash: "mash", Daemon: "stubs", ApiClient: "stubs",
    User: "stubs", Knife: "stubs", Chefspec: "stubs", Shell: "stubs", RequestID: "stubs", LocalMode: "stubs", ActionCollection: "stubs", Win32: "stubs",
    ResourceReporter: "stubs", WorkstationConfigLoader: "stubs", SecretFetcher: "stubs", Compliance: "stubs", PolicyBuilder: "stubs", RunLock: "stubs",
    ScanAccessControl: "stubs", FileSystem: "stubs", Telemeter: "stubs", Mixins: "mixin", TrainTransport: "stubs", TargetIO: "stubs", DataCollector: "stubs",
  }.each { |name, file| autoload name, "prelude:chef/#{file}.rb" }

  class << self
    attr_reader :run_context

    def set_run_context(run_context)
      @run_context = run_context
    end

    def reset! = @run_context = nil

    def node
      @run_context && @run_context.node
    end

    def resource_handler_map
      @resource_handler_map ||= Chef::NodeMap.new
    end

    def provider_handler_map
      @provider_handler_map ||= Chef::NodeMap.new
    end

    def event_handler(&block)
      Chef::EventDispatch::DSL.new("anonymous").instance_eval(&block)
    end

    def deprecated(type, message = nil, *_)
      if Chef::Config[:treat_deprecation_warnings_as_errors]
        raise Chef::Exceptions::DeprecatedFeatureError, "#{message} at #{FX.here}"
      end
      Chef::Log.info("Deprecated: #{message}")
    end

    def log_deprecation(message, location = nil) = deprecated(:generic, message)

    def version_of_api = VERSION

    def target_mode? = false
  end
end

class Chef
  class Exceptions
    # Known before anything else: raised by the loader itself.
    class ConfigurationError < ArgumentError; end
  end
end

# Parts of the machine object that are simpler in Ruby.
class FxMachine
  def forced_why_run
    saved = Chef::Config[:why_run]
    Chef::Config[:why_run] = true
    yield
  ensure
    Chef::Config[:why_run] = saved
  end

  def silently
    hush(1)
    yield
  ensure
    hush(-1)
  end

  def with_umask(mask)
    old = ::File.umask(mask)
    yield
  ensure
    ::File.umask(old) if old
  end
end

# Where commands that stream their output write to.
class FxStream
  def initialize(*) = nil
  def <<(text)
    $stdout.write(text)
    self
  end
  def print(*text) = $stdout.write(*text)
  def puts(*text) = $stdout.puts(*text)
  def close = nil
end
