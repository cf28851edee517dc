# Ohai as far as plug-ins need it: the language they are written in, and running those of cookbooks.
module Ohai
  VERSION = "18.2.21"
  module Exception
    class AttributeNotFound < ::RuntimeError; end
    class DependencyCycle < ::RuntimeError; end
    class InvalidPlugin < ::RuntimeError; end
  end
  class Config
    def self.[](k) = Chef::Config[:ohai][k]
    def self.[]=(k, v)
      Chef::Config[:ohai][k] = v
    end
    def self.ohai = Chef::Config[:ohai]
  end
  class System
    def initialize(*) = nil
    def all_plugins(*) = nil
    def data = Chef.node.automatic
  end

  # Commands and hints, for plug-ins and for whoever mixes them in.
  module Util
    module FileHelper
      def which(cmd) = ENV["PATH"].to_s.split(":").map { |d| "#{d}/#{cmd}" }.find { |f| ::File.executable?(f) } || false
      def file_exist?(path) = ::File.exist?(path)
      def file_read(path) = ::File.read(path)
      def dir_exist?(path) = ::Dir.exist?(path)
    end
  end
  module Hints
    def self.refresh_hints = @hints = {}
    def self.parse_hint_file(path) = FX.parse_json(FX.read(path) || ::File.read(path))
  end

  # One plug-in: what it gives, what it needs, and a block for each system.
  class Plugin
    include Util::FileHelper
    attr_reader :name, :provided, :needed, :collectors
    def initialize(name)
      @name, @provided, @needed, @collectors, @ran = name, [], [], {}, false
    end
    def provides(*names) = @provided |= names.flatten.map(&:to_s)
    def depends(*names) = @needed |= names.flatten.map(&:to_s)
    def optional(*) = nil
    def collect_data(*systems, &block)
      (systems.empty? ? [:default] : systems).each do |s|
        if @collectors.key?(s)
          raise Exception::InvalidPlugin, "collect_data already defined on platform '#{s}' for #{@name}"
        end
        @collectors[s] = block
      end
    end
    def data = Chef.node.automatic
    def ran? = @ran
    def reset! = @ran = false
    def run
      return if @ran
      @ran = true
      Ohai.needed_by(self).each(&:run)
      block = @collectors[data["os"].to_s.to_sym] || @collectors[:default]
      instance_eval(&block) if block
    rescue SystemExit, Chef::Exceptions::ConfigurationError
      raise
    rescue StandardError => e
      Chef::Log.debug("Plugin #{@name} threw exception #{e.inspect}")
    end

    def collect_os = data["os"]
    def hint?(name)
      Array(Chef::Config[:ohai][:hints_path] || ["/etc/chef/ohai/hints"]).each do |dir|
        file = "#{dir}/#{name}.json"
        next unless ::File.exist?(file)
        text = FX.read(file) || ::File.read(file)
        return text.strip.empty? ? {} : FX.parse_json(text)
      end
      nil
    end
    def shell_out(cmd, **opts)
      opts.delete(:plugin)
      Mixlib::ShellOut.new(cmd, **opts).run_command
    end
    def shell_out!(cmd, **opts) = shell_out(cmd, **opts).tap(&:error!)
    def logger = Chef::Log.with_child
    def configuration(*path)
      path.inject(Chef::Config[:ohai][:plugin]) { |h, k| h.respond_to?(:[]) ? h[k] : nil }
    end
    def attribute?(name, *more) = !get_attribute(name, *more).nil?
    def get_attribute(*path)
      path = path.flatten.flat_map { |p| p.to_s.split("/") }
      path.inject(data) { |h, k| h.respond_to?(:key?) ? h[k] : nil }
    end
    def set_attribute(name, *path, value)
      return data[name.to_s] = value if path.empty?
      at = (data[name.to_s] ||= ChefUtils::Mash.new)
      path[0..-2].each { |k| at = (at[k.to_s] ||= ChefUtils::Mash.new) }
      at[path.last.to_s] = value
    end
    def from(cmd) = shell_out(cmd).stdout.chomp
    # A bare word reads an attribute, with a value it sets one.
    def method_missing(word, *args)
      return get_attribute(word) if args.empty?
      set_attribute(word, *args)
    end
    def respond_to_missing?(*) = true
  end

  @plugins = {}
  class << self
    attr_reader :plugins
    def config = Chef::Config[:ohai]
    # A plug-in that is defined twice is one with both definitions.
    def plugin(name, &block)
      unless name.is_a?(Symbol) && name.match?(/\A[A-Z][^_]*\z/)
        raise Exception::InvalidPlugin,
          "#{name} is not a valid plugin name. A valid plugin name is a symbol which begins with a capital letter " \
          "and contains no underscores"
      end
      found = (@plugins[name] ||= Plugin.new(name))
      found.instance_eval(&block)
      found
    end
    def needed_by(plugin)
      names = plugin.needed.map { |n| n.split("/").first }
      @plugins.values.select { |p| !p.equal?(plugin) && p.provided.any? { |n| names.include?(n.split("/").first) } }
    end
    # Runs those that give a name, or all.
    def run(name = nil)
      chosen = @plugins.values.select do |p|
        name.nil? || p.provided.any? { |n| n == name || n.start_with?("#{name}/") } || p.name.to_s == name.to_s
      end
      chosen.each(&:reset!)
      chosen.each(&:run)
    end
    def load_file(path) = Kernel.load(path)
  end
end
