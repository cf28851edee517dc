# What every piece of Puppet code in Ruby finds: errors, logging, settings, features.
module Kernel
  # Libraries of the original and of its surroundings; and those of them that are never there.
  FIXPOINT_KNOWN = %r{
    \A(puppet|facter|hiera|semantic_puppet|puppetx?|puppet_x|rgen|gettext|locale|deep_merge|safe_yaml|pp|win32|augeas
    |selinux|msgpack|hocon|toml|toml-rb|inifile)(/|\z)
  }x
  FIXPOINT_ABSENT = %r{\A(toml|toml-rb|inifile|augeas|selinux|msgpack|hocon|win32)(/|\z)}
  alias __plain_require require
  def require(name)
    __plain_require(name)
  rescue LoadError
    # The original's own libraries are part of this one, read when their constants are used.
    raise unless name.to_s =~ FIXPOINT_KNOWN
    raise if name.to_s.start_with?("puppet_x/", "puppetx/") || name.to_s =~ FIXPOINT_ABSENT
    false
  end
  def to_yaml(*args, **options)
    __plain_require("yaml")
    YAML.dump(self, *args, **options)
  end
  def to_json(*args)
    __plain_require("json")
    JSON.generate(self, *args)
  end
  def to_pson(*args) = to_json(*args)
  def _(text, *) = text
  def n_(one, many, count) = count == 1 ? one : many
end

# Puppet 7 runs on Ruby 3.1, which still has these.
class << File
  alias exists? exist?
end
class << Dir
  alias exists? exist?
end

module Puppet
  class Error < RuntimeError
    attr_accessor :original, :file, :line, :pos
    def initialize(message = nil, original = nil)
      super(message)
      @original = original
    end
  end
  class DevError < Error; end
  class ParseError < Error
    attr_accessor :environment
    def initialize(message = nil, file = nil, line = nil, pos = nil, original = nil)
      super(message)
      @file, @line, @pos = file, line, pos
    end
  end
  class ParseErrorWithIssue < ParseError
    attr_reader :issue_code, :basic_message, :arguments
    def self.from_issue_and_stack(issue, args = {}) = new(issue.respond_to?(:format) ? issue.format(args) : issue.to_s)
  end
  class PreformattedError < ParseErrorWithIssue; end
  class ResourceError < Error; end
  class ExecutionFailure < Error; end
  class AuthenticationError < Error; end
  class MissingCommand < Error; end
  class SettingsError < Error; end
  # What the engine treats apart, by its class.
  class TemplateFailure < ParseError; end
  class NoSuitableProvider < Error; end
  # Carries a failure of the language through Ruby code unchanged.
  class CarriedFailure < PreformattedError; end
  class << self
    # The last error of Ruby on its way through the language.
    attr_accessor :__raised
    # Whether providers are read with their type, as the original does it, or when they are needed.
    attr_accessor :__eager
    # Whether programs and files that providers ask for count as there: catalogs are looked at, not applied.
    attr_accessor :__programs_exist
  end

  module Bridge_; end

  LEVELS = %i[debug info notice warning err alert emerg crit].freeze
  LEVELS.each do |level|
    define_singleton_method(level) do |*args, &block|
      message = block && args.empty? ? block.call : args.join(" ")
      Puppet::Bridge.log(level.to_s, message.to_s)
      nil
    end
  end
  def self.log_exception(e, message = nil, _options = {})
    err(message == :default || message.nil? ? e.message : message.to_s)
  end
  def self.__place(file, line)
    return "" unless file || line
    "(#{[file && "file: #{file}", line && "line: #{line}"].compact.join(", ")})"
  end
  def self.__once(key, message)
    @once ||= {}
    return if @once.length >= 100 || @once.key?(key)
    @once[key] = true
    warning(message)
  end
  def self.warn_once(_kind, key, message, file = nil, line = nil, _level = :warning)
    return __once([:w, key], message) if file == :default && line == :default
    place = __place(file, line)
    __once([:w, key], "#{message}\n   #{place.empty? ? "(file & line not available)" : place}")
  end
  def self.deprecation_warning(message, key = nil, by = caller(1, 1).first)
    __once([:d, key || by], "#{message}\n   (location: #{by})")
  end
  def self.puppet_deprecation_warning(message, options = {})
    file, line = options[:file], options[:line]
    raise Puppet::DevError, "Need either :file and :line, or :key" if options[:key].nil? && (file.nil? || line.nil?)
    __once([:d, options[:key] || "#{file}:#{line}"], "#{message}\n   #{__place(file || "unknown", line || "unknown")}")
  end
  def self.version = "7.23.0"
  PUPPETVERSION = "7.23.0"
  def self.[](name)
    name = name.to_s
    return __set[name] if __set.key?(name)
    value = Puppet::Bridge.setting(name)
    return value if __set.empty? || !value.is_a?(String)
    # What lies below a folder goes with it.
    DIRS.each do |dir|
      next unless __set.key?(dir) && (old = Puppet::Bridge.setting(dir)) && value.start_with?("#{old}/")
      return "#{__set[dir]}#{value.delete_prefix(old)}"
    end
    value
  end
  DIRS = %w[statedir ssldir vardir confdir codedir rundir logdir].freeze
  def self.[]=(name, value)
    __set[name.to_s] = value
  end
  # Settings that code gave other values, until they are taken back.
  def self.__set = @__set ||= {}
  def self.settings = @settings ||= Settings.new
  def self.features = Features.instance
  def self.initialize_settings(*) = nil
  # Another node is compiled: what was remembered of the last one is removed.
  def self.__forget
    Puppet::Parser::Scope::VARS.clear if const_defined?(:Parser, false)
    Facter::CACHE.clear if Object.const_defined?(:Facter)
    LookupContext::CACHE.clear if const_defined?(:LookupContext, false)
  end
  def self.run_mode = RunMode.new
  def self.runtime = { http: nil }
  def self.lookup(name, &block)
    case name
    when :current_environment then Puppet::Node::Environment.current
    when :global_scope then Puppet::Parser::Scope.new(0)
    when :loaders then Puppet::Pops::Loaders.new
    when :trusted_information then Puppet::Bridge.lookupvar(0, "trusted")[1]
    else block ? block.call : nil
    end
  end
  def self.override(*, **) = yield
  def self.push_context(*) = nil
  def self.pop_context(*) = nil

  class Settings
    def [](name) = Puppet[name]
    def []=(name, value)
      Puppet[name] = value
    end
    def value(name, *) = Puppet[name]
    def setting(_name) = nil
    def clear = Puppet.__set.clear
    def initialize_global_settings(*) = nil
    def initialize_app_defaults(*) = nil
    def global_defaults_initialized? = true
    def app_defaults_initialized? = true
    def define_settings(*) = nil
    def use(*) = nil
    # Sections of files are one here.
    def values(*) = self
    def interpolate(name) = Puppet[name]
    def include?(_name) = true
    def valid?(_name) = true
    def set_by_cli?(name) = Puppet::Bridge.set_by_cli?(name.to_s)
    def set_by_config?(name, *) = Puppet::Bridge.set_by_config?(name.to_s)
    def which_configuration_file = Puppet[:config]
    def each = nil
  end
  class RunMode
    def master? = true
    def server? = true
    def agent? = false
    def user? = false
    def name = :master
  end
  class Features
    def self.instance = @instance ||= new
    KNOWN = { posix?: true, root?: true, json?: true, yaml?: true, openssl?: true, microsoft_windows?: false }.freeze
    def add(name, options = {}, &block)
      @known ||= {}
      @known[:"#{name}?"] = block || -> { Array(options[:libs]).all? { |lib| __loads?(lib) } }
    end
    def __loads?(lib)
      require lib
      true
    rescue LoadError
      false
    end
    def load(*) = nil
    def method_missing(name, *)
      v = (@known ||= {})[name]
      return !!v.call if v
      KNOWN.fetch(name, false)
    end
    def respond_to_missing?(*) = true
  end

  module Node_; end
  class Node
    class Environment
      def self.current = @current ||= new
      def name = Puppet::Bridge.setting("environment").to_sym
      def to_s = name.to_s
      def modulepath = Puppet::Bridge.modulepath
      def full_modulepath = modulepath
      def modules = Puppet::Bridge.modules.map { |n, p| Puppet::Module.new(n, p) }
      def module(name)
        path = Puppet::Bridge.module_path(name.to_s)
        path && Puppet::Module.new(name.to_s, path)
      end
      def known_resource_types = Puppet::Resource::TypeCollection.new
      def manifest = nil
      def rich_data? = true
    end
    attr_reader :name
    def initialize(name) = @name = name
    def environment = Environment.current
    def facts = nil
    def parameters = {}
    def classes = []
  end
  class Module
    attr_reader :name, :path
    def initialize(name, path)
      @name, @path = name, path
    end
    def self.find(name, _env = nil) = Puppet::Node::Environment.current.module(name)
    def metadata = (@metadata ||= (JSON.parse(File.read(File.join(@path, "metadata.json"))) rescue {}))
    def version = metadata["version"]
    def author = metadata["author"]
    def forge_name = metadata["name"].to_s.tr("-", "/")
    def dependencies = metadata["dependencies"] || []
    def file(name) = (p = File.join(@path, "files", name.to_s)) && File.exist?(p) ? p : nil
    def files = file("")
    def templates = File.join(@path, "templates")
    def lib_directories = [File.join(@path, "lib")]
    def plugin_directory = File.join(@path, "lib")
  end
  module Resource_; end

  module SSL
    # A connection is checked by the machine's own certificates.
    class SSLProvider
      def create_insecure_context(*, **) = nil
      def create_root_context(*, **) = nil
      def load_context(*, **) = nil
    end
  end
  module Network; end
  module Indirector; end
  module Interface_; end
  module DataBinding
    class LookupError < Puppet::PreformattedError; end
    class RecursiveLookupError < LookupError; end
  end
  module HTTP
    class HTTPError < Puppet::Error; end
    class ConnectionError < HTTPError; end
    class RouteError < HTTPError; end
    class ProtocolError < HTTPError; end
    class SerializationError < HTTPError; end
    class ResponseError < HTTPError
      attr_reader :response
      def initialize(response)
        super(response.reason)
        @response = response
      end
    end
  end
  module Provider_; end
  module GettextConfig
    def self.method_missing(*) = nil
  end
end
