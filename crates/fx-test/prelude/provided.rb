# Libraries that specs require and that are built in, and what requiring them does.
module RSpec
  module Core
    module Provided
      NOTHING = %w[rspec rspec/core rspec/expectations rspec/mocks rspec/autorun rspec/matchers rspec/support
                   puppet facter rspec-puppet/support facterdb simplecov simplecov-console codecov deep_merge
                   mocha mocha/api mocha/setup webmock webmock/rspec rspec/its rspec-its puppet_spec_helper
                   puppet/test/test_helper puppetlabs_spec_helper/puppetlabs_spec/files
                   puppetlabs_spec_helper/puppetlabs_spec/puppet_internals
                   puppetlabs_spec_helper/puppetlabs_spec/fixtures
                   puppetlabs_spec_helper/puppetlabs_spec/matchers
                   puppetlabs_spec/files puppetlabs_spec/fixtures].freeze
      PUPPET = %w[rspec-puppet rspec-puppet-facts puppetlabs_spec_helper/module_spec_helper puppetlabs_spec_helper
                  puppetlabs_spec_helper/puppet_spec_helper voxpupuli/test/spec_helper].freeze

      def self.take(name)
        return true if NOTHING.include?(name) || name.start_with?("rspec/core/formatters", "rspec/core/notifications")
        return chef(name) if name.match?(CHEF)
        return own(name) if name.match?(OWN)
        return false unless PUPPET.include?(name)
        puppet(name)
        true
      end

      # Puppet's own libraries are part of this program, whatever is installed; files of modules that
      # stand below the same names are read.
      OWN = %r{\A(?:puppet|facter|hiera|semantic_puppet)/}
      SYSTEM = %w[/usr/lib/ruby /usr/share /var/lib/gems /opt/puppetlabs].freeze
      def self.own(name)
        # Specs look whether a constant is there, which reads nothing by itself.
        ::Puppet::Bridge.part("type") if name.start_with?("puppet/")
        ::Puppet::Bridge.part("resource_api") if name == "puppet/resource_api"
        file = name.end_with?(".rb") ? name : "#{name}.rb"
        dirs = $LOAD_PATH.reject { |dir| dir.to_s.start_with?(*SYSTEM) }
        found = dirs.map { |dir| File.join(dir, file) }.find { |path| File.file?(path) }
        found ? [found] : true
      end

      # Chef's own libraries, ChefSpec and what goes with them. Cookbooks are taken from where they lie.
      CHEF = %r{\A(?:chefspec|chef|fauxhai|chef-utils|chef-config|mixlib/shellout|ohai)(?:/|\z)}
      def self.chef(name)
        unless @chef
          @chef = true
          FxCookbooks.start
        end
        ChefSpec.brought = true if name.match?(%r{\Achefspec/(?:berkshelf|policyfile|librarian)\z})
        true
      end

      def self.puppet(name)
        unless @puppet
          @puppet = true
          %w[English tmpdir tempfile fileutils pathname yaml etc].each { |lib| require lib }
          RSpec::Puppet.set_up
          TOPLEVEL_BINDING.receiver.extend(RspecPuppetFacts)
          Object.include(RspecPuppetFacts)
        end
        files if name.start_with?("puppetlabs_spec_helper")
        site_facts if name.start_with?("voxpupuli", "puppetlabs_spec_helper")
      end

      # Helpers for files and fixtures. Without another choice doubles are Mocha's there.
      def self.files
        config = RSpec.configuration
        config.include(PuppetlabsSpec::Files)
        config.include(PuppetlabsSpec::Fixtures)
        config.extend(PuppetlabsSpec::Fixtures)
        config.mock_with(:mocha) unless config.chose_mocks?
      end

      # Facts that a project adds for all its specs.
      def self.site_facts
        require "yaml"
        config = RSpec.configuration
        %w[spec/default_facts.yml spec/default_module_facts.yml].each do |file|
          next unless File.file?(file)
          more = YAML.safe_load(File.read(file), permitted_classes: [], aliases: true) || {}
          config.default_facts = (config.default_facts || {}).merge(more)
        end
      end

      # Facts that modules of the dependencies would bring.
      def self.voxpupuli
        names = (RspecPuppetFacts.metadata["dependencies"] || []).map { |one| one["name"].to_s.tr("/", "-") }
        main = TOPLEVEL_BINDING.receiver
        if names.include?("puppetlabs-stdlib")
          provider = lambda do |_, facts|
            family = facts[:osfamily] || facts.dig(:os, "family")
            { "Archlinux" => "systemd", "Darwin" => "launchd", "FreeBSD" => "freebsd", "Gentoo" => "openrc",
              "OpenBSD" => "openbsd" }.fetch(family, "systemd")
          end
          main.add_custom_fact :service_provider, provider
          main.add_custom_fact :puppet_vardir, "/var/lib/puppet"
          main.add_custom_fact :puppet_environmentpath, "/etc/puppetlabs/code/environments"
          main.add_custom_fact :root_home, "/root"
        end
        return unless names.include?("puppet-systemd") || names.include?("camptocamp-systemd")
        main.add_custom_fact :systemd, ->(_, facts) { facts[:service_provider] == "systemd" }
      rescue StandardError
        nil
      end
    end
  end
end

module Kernel
  alias fx_spec_require require
  private def require(name)
    taken = RSpec::Core::Provided.take(name.to_s)
    taken.is_a?(Array) ? fx_spec_require(taken.first) : taken || fx_spec_require(name)
  end
end

# What voxpupuli-test gives to specs: facts that modules of the dependencies would bring, and a merge.
def add_mocked_facts! = RSpec::Core::Provided.voxpupuli
def override_facts(facts, **more)
  facts.merge(more) do |_, old, new|
    old.is_a?(Hash) && new.is_a?(Hash) ? old.deep_merge(new.transform_keys(&:to_s)) : new
  end
end

# The gem deep_merge, as far as helpers use it.
class Hash
  def deep_merge(other)
    merge(other) do |_, old, new|
      next old.deep_merge(new) if old.is_a?(Hash) && new.is_a?(Hash)
      old.is_a?(Array) && new.is_a?(Array) ? old | new : new
    end
  end
  def deep_merge!(other) = replace(deep_merge(other))
end
