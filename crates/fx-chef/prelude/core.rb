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
  module DSL
    autoload :DefaultPaths, "prelude:chef/paths.rb"
    autoload :PathSanity, "prelude:chef/paths.rb"
    %i{Platform PlatformFamily PlatformVersion OS Architecture Which Service Introspection Virtualization Cloud
      TrainHelpers Windows}.each do |n|
      autoload n, "prelude:chef/platform_queries.rb"
    end
  end
  autoload :Internal, "prelude:chef/platform_queries.rb"
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
autoload :InSpec, "prelude:chef/inert_names.rb"
autoload :ChefVault, "prelude:chef/vault.rb"
autoload :ChefConfig, "prelude:chef/chef_config.rb"
Object.autoload?(:Gem) ? autoload(:Gem, "prelude:chef/gem_names.rb") : FX.load("chef/gem_names.rb")
autoload :Net, "prelude:chef/http_errors.rb"
%i{IniParse Addressable Plist Diff}.each { |n| autoload n, "prelude:chef/gems.rb" }
# Chef has these loaded; here the first use does it.
{ JSON: "json", YAML: "yaml", FileUtils: "fileutils", Tempfile: "tempfile", Pathname: "pathname",
  Shellwords: "shellwords", URI: "uri", Digest: "digest",
  OpenSSL: "openssl", Base64: "base64", SecureRandom: "securerandom", Etc: "etc", IPAddr: "ipaddr",
  StringIO: "stringio", Open3: "open3", Timeout: "timeout", Forwardable: "forwardable",
  Singleton: "singleton", OpenStruct: "ostruct", ERB: "erb", Logger: "logger", SimpleDelegator: "delegate",
  Date: "date", DateTime: "date", REXML: "rexml/document", CGI: "cgi", RbConfig: "rbconfig",
  PP: "pp", StringScanner: "strscan", Socket: "socket", TCPSocket: "socket", Addrinfo: "socket",
  OptionParser: "optparse" }.each { |n, f| Object.autoload(n, f) unless Object.const_defined?(n) }
# These come with Shellwords, which Chef has loaded.
class String
  def shellescape = Shellwords.escape(self)
  def shellsplit = Shellwords.split(self)
end
class Array
  def shelljoin = Shellwords.join(self)
end
class Object
  def to_yaml(*args)
    YAML
    YAML.dump(self, *args)
  end
  def to_json(*args)
    JSON.generate(self)
  end
end

class Chef
  # Text that compares as a version, also with numbers.
  class VersionString < String
    def fx_parts(v) = v.to_s.split(/[.\-+~]/).map { |x| x.match?(/\A\d+\z/) ? x.to_i : x }
    def <=>(other)
      return nil unless other.is_a?(String) || other.is_a?(Numeric) || other.respond_to?(:segments)
      a, b = fx_parts(self), fx_parts(other)
      n = [a.size, b.size].max
      (0...n).each do |i|
        x, y = a[i] || 0, b[i] || 0
        c = x.is_a?(Integer) && y.is_a?(Integer) ? x <=> y : x.to_s <=> y.to_s
        return c unless c == 0
      end
      0
    end
    def ==(other) = (self <=> other) == 0
    def <(other) = (self <=> other) < 0
    def >(other) = (self <=> other) > 0
    def <=(other) = (self <=> other) <= 0
    def >=(other) = (self <=> other) >= 0
    def satisfies?(constraint) = Chef::VersionConstraint.new(constraint).include?(to_s)
    def =~(other) = other.is_a?(Regexp) ? super : satisfies?(other.to_s)
  end
  VERSION = VersionString.new("18.11.21")
  CHEF_ROOT = "/opt/chef/embedded/lib/ruby/gems/3.1.0/gems/chef-18.11.21/lib"
  {
    Exceptions: "exceptions", Config: "config", Log: "log", Node: "node", Resource: "resource", Provider: "provider",
    Property: "property", Recipe: "recipe", RunContext: "run_context", Runner: "runner",
    ResourceCollection: "collection",
    Mixin: "mixin", DSL: "dsl", Util: "file_edit", Client: "client", Application: "application", Handler: "handler",
    EventDispatch: "events", Formatters: "formatters", RunStatus: "handler", DelayedEvaluator: "delayed",
    JSONCompat: "json_compat", DataBag: "data", DataBagItem: "data", EncryptedDataBagItem: "encrypted", Search: "data",
    Role: "role",
    Environment: "role", RunList: "run_list", VersionConstraint: "version", Version: "version", Digester: "digester",
    FileCache: "file_cache", HTTP: "http", ServerAPI: "http", Platform: "platform", NodeMap: "node_map",
    CookbookVersion: "cookbook",
    Cookbook: "cookbook", CookbookCollection: "cookbook", CookbookLoader: "cookbook", GuardInterpreter: "guard",
    FileContentManagement: "inert_names",
    FileAccessControl: "inert_names", Deprecated: "deprecations", Decorator: "decorator", Dist: "dist",
    ReservedNames: "inert_names", ResourceDefinition: "definition", ResourceDefinitionList: "definition",
    ResourceBuilder: "recipe", ResourceResolver: "node_map", ProviderResolver: "node_map", Mash: "mash",
    Daemon: "inert_names", ApiClient: "api_client",
    User: "inert_names", Knife: "inert_names", Chefspec: "inert_names", Shell: "inert_names", RequestID: "http",
    LocalMode: "inert_names", ActionCollection: "inert_names", Win32: "inert_names",
    ResourceReporter: "inert_names", WorkstationConfigLoader: "inert_names", SecretFetcher: "inert_names",
    Compliance: "inert_names", PolicyBuilder: "policyfile", FxReporter: "reporter", FxFailures: "failures",
    FxSecrets: "secrets", FxMissing: "missing", FxInspectors: "inspectors", FxAnswers: "http", FxConnections: "http",
    FxStore: "store", FxServerStore: "store_server", FxCookbookCache: "cookbook_cache", FxRegistration: "registration",
    FxKeptNode: "store_server",
    FxLocalSearch: "local_search", FxServerReports: "server_reports", FxGems: "local_gems",
    RunLock: "run_lock", FxDescribe: "describe",
    ScanAccessControl: "inert_names", FileSystem: "inert_names", Telemeter: "inert_names", Mixins: "mixin",
    TrainTransport: "inert_names", TargetIO: "inert_names", DataCollector: "inert_names",
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
      ((@fx_deprecations ||= {})[[type, message]] ||= []).push(FX.here).uniq!
    end

    # What a run says at its end about what will not work for long.
    def fx_deprecations
      return [] unless @fx_deprecations
      out = ["", "Deprecation warnings that must be addressed before upgrading to Chef Infra Client " \
        "#{VERSION.to_i + 1}:", ""]
      @fx_deprecations.each do |(type, message), places|
        out << "  #{message} at #{places.size == 1 ? "1 location" : "#{places.size} locations"}:"
        places.each { |l| out << "    - #{l}" }
        url = Chef::Deprecated.fx_url(type)
        out << "   See #{url} for further details." if url
      end
      out << ""
    end

    def log_deprecation(message, location = nil) = deprecated(:generic, message)

    def version_of_api = VERSION

    def target_mode? = false
  end
end

module ChefUtils
  VersionString = Chef::VersionString
end

# Parts of the machine object that are simpler in Ruby.
class FxMachine
  # An action that is only rehearsed sees a why-run.
  def probing
    outer = Chef::Config[:why_run]
    Chef::Config[:why_run] = true
    probe(1)
    yield
  ensure
    probe(-1)
    Chef::Config[:why_run] = outer
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
  def initialize(name = "execute") = @name = name.to_s
  def <<(text)
    FX.output(@name, text)
    self
  end
  def print(*text) = text.each { |t| self << t.to_s }
  def puts(*text) = text.each { |t| self << "#{t}\n" }
  def close = nil
end

module Kernel
  alias_method :fx_require, :require
  # Chef's own files are here already, whatever their names; so are those of its libraries.
  def require(name)
    case name.to_s
    when %r{\A(chef|chef-utils|chef-config|mixlib|ohai|chef_zero)(/|\z)}, "chef-utils", "mixlib-shellout", "erubis",
      "ffi_yajl", "license_acceptance/acceptor", "iniparse", "addressable/uri", "addressable", "plist", "diff/lcs",
      "zip", "chef-vault"
      false
    else fx_require(name)
    end
  end
  private :require
  class << self
    alias_method :fx_require, :require
    def require(name) = Object.new.send(:require, name)
  end
end
