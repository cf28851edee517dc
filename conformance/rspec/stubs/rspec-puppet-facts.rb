# In the place of rspec-puppet-facts, which Debian has not: the facts of the systems that the module's metadata names,
# from files in facterdb's layout, read once.
require 'facter'
require 'json'
require 'rspec-puppet'

module RspecPuppetFacts
  CUSTOM = {} # rubocop:disable Style/MutableConstant

  def add_custom_fact(name, value, _options = {})
    CUSTOM[name.to_sym] = value
  end

  def on_supported_os(_options = {})
    supported = JSON.parse(File.read('metadata.json'))['operatingsystem_support']
    RspecPuppetFacts.sets.select { |facts| RspecPuppetFacts.supported?(facts, supported) }.to_h do |facts|
      os = facts[:os]
      [[os['name'], os['release']['major'], facts[:hardwaremodel]].join('-').downcase, RspecPuppetFacts.merged(facts)]
    end
  end

  def self.sets
    @sets ||= Dir[File.join(ENV.fetch('FACTERDB_SEARCH_PATHS'), '4.2', '*.facts')].map do |file|
      JSON.parse(File.read(file)).transform_keys(&:to_sym)
    end
  end

  def self.supported?(facts, supported)
    supported.any? do |one|
      one['operatingsystem'] == facts[:os]['name'] &&
        one['operatingsystemrelease'].include?(facts[:os]['release']['major'])
    end
  end

  def self.merged(facts)
    CUSTOM.each_with_object(facts.dup) do |(name, value), all|
      known = all[name]
      all[name] = known.is_a?(Hash) && value.is_a?(Hash) ? known.merge(value) : value
    end
  end
end
