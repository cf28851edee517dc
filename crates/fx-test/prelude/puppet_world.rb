# What specs of types, providers and facts find besides Puppet's own classes: files of their own, fixtures
# and a world that is as it was before each example.
module PuppetlabsSpec
  FIXTURE_DIR = File.join(Dir.pwd, "spec", "fixtures")

  # Files that are gone after the example.
  module Files
    MADE = []
    def self.cleanup
      require "fileutils"
      FileUtils.rm_rf(MADE.pop) until MADE.empty?
    end
    def self.make_absolute(path) = File.expand_path(path)
    def make_absolute(path) = Files.make_absolute(path)
    def tmpfilename(name)
      require "tempfile"
      source = Tempfile.new(name)
      path = source.path
      source.close!
      MADE << path
      path
    end
    alias tmpfile tmpfilename
    def tmpdir(name)
      require "tmpdir"
      path = Dir.mktmpdir(name)
      MADE << path
      path
    end
    module_function :tmpfilename, :tmpfile, :tmpdir
  end

  # Files below spec/fixtures that belong to the spec file.
  module Fixtures
    def fixtures(*rest) = File.join(FIXTURE_DIR, *rest)
    def my_fixture_dir
      lines = caller.map { |one| one.delete_prefix("#{Dir.pwd}/").delete_prefix("./") }
      part = lines.find { |one| one.match?(%r{\Aspec/.*_spec\.rb:}) }.to_s[%r{\Aspec/(.+?)_spec\.rb:}, 1]
      found = File.join(FIXTURE_DIR, part.to_s)
      File.directory?(found) ? found : nil
    end
    def my_fixture(name)
      file = File.join(my_fixture_dir.to_s, name)
      raise "fixture '#{name}' for #{my_fixture_dir} is not readable" unless File.readable?(file)
      file
    end
    def my_fixtures(glob = "*", flags = 0)
      files = Dir.glob(File.join(my_fixture_dir.to_s, glob), flags)
      raise "fixture '#{glob}' for #{my_fixture_dir} had no files!" if files.empty?
      block_given? ? files.each { |file| yield file } : files
    end
    def my_fixture_read(name) = File.read(my_fixture(name))
  end

  # Scopes and nodes that specs of functions make by themselves.
  module PuppetInternals
    def self.scope(_parts = {}) = Puppet::Parser::Scope.new(0)
    def scope(parts = {}) = PuppetInternals.scope(parts)
    def self.resource(parts = {})
      Puppet::Parser::Resource.new(parts[:type] || :hostclass, parts[:title] || "main", scope: scope)
    end
    def self.compiler(*) = scope.compiler
    def self.node(parts = {}) = Puppet::Node.new(parts[:name] || "nodename")
    def self.function_method(name, parts = {})
      found = Puppet::Parser::Functions.function(name.to_sym)
      found && (parts[:scope] || scope).method(found)
    end
    module_function
  end
  module Matchers; end
end

module RSpec
  module Puppet
    # Before and after every example.
    module World
      # In groups about catalogs the programs that providers name count as there.
      def self.enter(metadata)
        ::Puppet.__programs_exist = KINDS.key?(metadata[:type])
      end
      def self.forget
        FxPuppet.leave
        ::Puppet.__set.clear
        ::Facter.__fresh if ::Object.const_defined?(:Facter)
        ::PuppetlabsSpec::Files.cleanup unless ::PuppetlabsSpec::Files::MADE.empty?
      end
    end
    RSpec::Core::Example::AROUND << World

    # `be_valid_type.with_properties("a").with_provider(:b)`: what a type has, and whether values make a resource.
    class BeValidType < Matcher
      def initialize = (@names, @values, @problems = { parameter: [], property: [], feature: [] }, {}, [])
      def with_parameters(*names) = tap { @names[:parameter].concat(names.flatten) }
      def with_properties(*names) = tap { @names[:property].concat(names.flatten) }
      def with_features(*names) = tap { @names[:feature].concat(names.flatten) }
      def with_set_attributes(values) = tap { @values.merge!(values) }
      def with_defaults(_values) = self
      def with_provider(name) = tap { @provider = name }
      # What a resource refuses is raised here, as an error and not as a failure.
      def matches?(subject)
        type, title, params = subject
        @names.each { |kind, list| list.each { |name| check(type, kind, name) } }
        return false unless @problems.empty?
        return true if @values.empty? && @provider.nil?
        made = type.new({ name: title }.merge(params).merge(@values))
        return true if @provider.nil? || made[:provider] == @provider
        @problems << "Expected provider: #{@provider} does not match: #{made[:provider]}"
        false
      end
      def description = "be a valid type"
      def failure_message = "Not a valid type #{@problems.inspect}"
      def failure_message_when_negated = "expected that the type would not be valid"

      private

      def check(type, kind, name)
        known = { parameter: :validparameter?, property: :validproperty?, feature: :provider_feature }
        return if type.public_send(known[kind], name)
        @problems << "expected #{kind}: #{name}"
      end
    end
  end
end
