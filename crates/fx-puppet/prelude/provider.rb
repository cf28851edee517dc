# Providers of types written in Ruby: what they are suitable for, and the commands they run.
module Puppet
  class Provider
    class << self
      attr_accessor :name, :resource_type, :doc
      attr_writer :doc
      include Puppet::Util
      include Puppet::Util::Errors
      include Puppet::Util::Logging
      def desc(t = nil) = @doc = t
      def inherited(sub)
        super
        sub.instance_variable_set(:@commands_, (@commands_ || {}).dup)
      end
      def confine(h) = (@confines ||= []) << h
      def defaultfor(h) = (@defaultfors ||= []) << h
      def notdefaultfor(h) = nil
      def commands(h)
        has_commands(h, false)
      end
      def optional_commands(h) = has_commands(h, true)
      def __commands? = !(@commands_ || {}).empty?
      def has_command(name, path, &block)
        b = CommandDefiner.new
        b.instance_eval(&block) if block
        has_commands({ name => path }, b.optional?, b.env)
      end
      class CommandDefiner
        attr_reader :env
        def is_optional = @optional = true
        def environment(h) = @env = h
        def optional? = !!@optional
      end
      def has_commands(h, optional, env = nil)
        h.each do |name, path|
          (@commands_ ||= {})[name] = path
          (@confines ||= []) << { exists: path, __command: true } unless optional
          run = lambda do |*args|
            bin = Puppet::Util.which(path)
            raise Puppet::MissingCommand, "Command #{name} is missing" unless bin
            words = [bin, *args.flatten.map(&:to_s)]
            options = { failonfail: true, combine: true, custom_environment: env || {} }
            Puppet::Util::Execution.execute(words, options)
          end
          # What a parent has is kept.
          define_singleton_method(name) { |*args| run.call(*args) } unless singleton_class.method_defined?(name)
          define_method(name) { |*args| self.class.public_send(name, *args) } unless method_defined?(name)
        end
      end
      def command(name)
        if (p = (@commands_ || {})[name.to_sym])
          return which(p) || raise(Puppet::MissingCommand, "Command #{name} is missing")
        end
        return superclass.command(name) if superclass.respond_to?(:command)
        raise Puppet::DevError, "No command #{name} defined for provider #{self.name}"
      end
      def has_feature(*f) = (@features ||= []).concat(f.flatten)
      alias has_features has_feature
      def declared_features
        (@features || []) + (superclass.respond_to?(:declared_features) ? superclass.declared_features : [])
      end
      def feature?(f)
        return true if declared_features.include?(f.to_sym)
        spec = resource_type && resource_type.provider_feature(f)
        m = spec && spec.methods
        m ? m.all? { |x| method_defined?(x) || respond_to?(x) } : false
      end
      def features = resource_type.features.select { |f| feature?(f) }
      def satisfies?(*needed) = needed.flatten.all? { |f| feature?(f) }
      def initvars = nil
      def suitable?(_short = true)
        all = (@confines || []) + (superclass.instance_variable_get(:@confines) || [])
        all.all? do |h|
          h.all? do |k, v|
            case k
            when :__command, :for_binary then true
            when :exists
              next true if Puppet.__programs_exist
              is_command = h[:__command] || h[:for_binary]
              is_command ? !Puppet::Util.which(v).nil? : Array(v).all? { |p| File.exist?(p) }
            when :feature then Array(v).all? { |f| Puppet.features.send(:"#{f}?") }
            when :true then Array(v).all? { |x| x.respond_to?(:call) ? x.call : x }
            when :false then Array(v).none? { |x| x.respond_to?(:call) ? x.call : x }
            else
              fact = Facter.value(k).to_s.downcase
              Array(v).any? { |x| x.to_s.downcase == fact || (x.is_a?(Regexp) && x.match?(fact)) }
            end
          end
        end
      end
      def specificity
        fitting = (@defaultfors || []).select { |h| h.all? { |k, v| __default_for?(k, v) } }
        (fitting.map(&:size).max || 0) * 100 + ancestors.count { |a| a.is_a?(Class) }
      end
      def __default_for?(k, v)
        return Array(v).all? { |f| Puppet.features.send(:"#{f}?") } if k == :feature
        Array(v).any? do |x|
          (f = Facter.value(k).to_s.downcase) == x.to_s.downcase || (x.is_a?(Regexp) && x.match?(f))
        end
      end
      def default? = (@defaultfors || []).any?
      def mk_resource_methods
        (resource_type.validproperties + resource_type.parameters).each do |a|
          next if a == :name
          define_method(a) { (v = @property_hash[a]).nil? ? :absent : v }
          define_method(:"#{a}=") { |v| @property_hash[a] = v }
        end
      end
      def supports_parameter?(attribute)
        attribute = resource_type.attrclass(attribute) unless attribute.is_a?(Class)
        needed = attribute.required_features
        needed.nil? || !!satisfies?(*needed)
      end
      def to_s = "Puppet::Type::#{resource_type && resource_type.name}::Provider::#{name}"
      def execute(*a) = Puppet::Util::Execution.execute(*a)
      def execpipe(*a, &b) = Puppet::Util::Execution.execpipe(*a, &b)
      def confine_collection = nil
      def post_resource_eval = nil
      def instance_prefetch = nil
    end
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    attr_accessor :resource
    attr_reader :property_hash
    def initialize(resource = nil)
      if resource.is_a?(Hash)
        # The very hash: providers of files write from it later.
        @property_hash = resource
      elsif resource
        @resource = resource
        @property_hash = {}
      else
        @property_hash = {}
      end
    end
    def name
      n = @property_hash[:name]
      return n if n
      return @resource.name if @resource
      raise Puppet::DevError, "No resource and no name in property hash in #{self.class.name} instance"
    end
    def get(p) = (v = @property_hash[p.to_s.to_sym]).nil? ? :absent : v
    def set(h) = h.each { |k, v| @property_hash[k] = v }
    def clear = @resource = nil
    def command(n) = self.class.command(n)
    def model = @resource
    def to_s = "#{@resource}(provider=#{self.class.name})"
    def execute(*a) = Puppet::Util::Execution.execute(*a)
    def execpipe(*a, &b) = Puppet::Util::Execution.execpipe(*a, &b)
    def feature?(f) = self.class.feature?(f)
    def features = self.class.features
    def satisfies?(*f) = self.class.satisfies?(*f)
    def self.const_missing(name)
      return super unless name == :ParsedFile
      Puppet::Bridge.part("parsed")
      const_get(name)
    end
    # What providers of packages share.
    class Package < Provider
      def self.prefetch(packages)
        instances.each { |one| (found = packages[one.name]) && found.provider = one }
      end
      def properties
        @property_hash = query || { ensure: :absent } if @property_hash.empty?
        @property_hash.dup
      end
      def validate_source(_value) = true
      # Options that are pairs are written with `=`.
      def join_options(options)
        options&.flat_map { |one| one.is_a?(Hash) ? one.keys.sort.map { |k| "#{k}=#{one[k]}" } : [one] }
      end
    end
    # What providers of commands share.
    class Exec < Provider
      def environment = {}
      def extractexe(command)
        return command.first if command.is_a?(Array)
        command =~ /\A"([^"]+)"|\A'([^']+)'/ ? $1 || $2 : command.split(/ /).first
      end
      def validatecmd(command)
        exe = extractexe(command)
        return true if Puppet::Util.absolute_path?(exe) || resource[:path]
        raise ArgumentError, "'#{exe}' is not qualified and no path was specified. Please qualify the command or " \
                             "specify a path."
      end
    end
    class NameService < Provider; end
    class Confine; end

    # One program of a provider, searched when it is run.
    class Command
      attr_reader :name, :executable
      def initialize(name, executable, resolver, executor, options = {})
        @name = name
        @executable = executable
        @resolver = resolver
        @executor = executor
        @options = options
      end
      def execute(*args)
        path = @resolver.which(@executable)
        raise Puppet::MissingCommand, "Command #{@name} is missing" unless path
        @executor.execute([path] + args.flatten, { failonfail: true, combine: true }.merge(@options))
      end
    end
  end
end
