# on_supported_os: facts of the systems that a module's metadata names.
module RspecPuppetFacts
  # The Facter of the Puppet whose version specs see.
  FACTER = "4.2.14"
  COMMON = { puppetversion: "7.23.0", rubysitedir: "/usr/local/lib/site_ruby/3.1.0", rubyversion: "3.1.2" }.freeze

  class << self
    def custom_facts = @custom_facts ||= {}
    def register_custom_fact(name, value, options) = custom_facts[name.to_sym] = { options: options, value: value }
    def reset = @custom_facts = @metadata = nil
    def metadata
      @metadata ||= begin
        file = "metadata.json"
        raise StandardError, "Can't find metadata.json... dunno why" unless File.file?(file)
        require "json"
        ::JSON.parse(File.read(file))
      end
    end
    def meta_supported_os
      found = metadata["operatingsystem_support"]
      found.is_a?(Array) ? found : raise(StandardError, "Unknown operatingsystem support in the metadata file!")
    end
    def sets = @sets ||= FactSets.new
    def facter_version(options)
      version = options[:facterversion] || RSpec.configuration.default_facter_version || FACTER
      return version if version.match?(/\A\d+\.\d+(?:\.\d+)*\z/)
      raise ArgumentError, ":facterversion must be in the format 'n.n' or 'n.n.n' (n is numeric), not '#{version}'"
    end
    # Each call gives facts of its own: specs change them.
    def deep_copy(value)
      case value
      when Hash then value.to_h { |key, one| [key, deep_copy(one)] }
      when Array then value.map { |one| deep_copy(one) }
      when String then value.dup
      else value
      end
    end
    def with_custom_facts(os, facts)
      custom_facts.each do |name, custom|
        confine, exclude = custom[:options].values_at(:confine, :exclude).map { |systems| Array(systems) }
        next if !confine.empty? && !confine.include?(os) || exclude.include?(os)
        value = custom[:value].respond_to?(:call) ? custom[:value].call(os, facts) : custom[:value]
        facts[name] = custom[:options][:merge_facts] ? merged(facts[name], value) : value
      end
      facts
    end

    private

    def merged(old, new)
      old.is_a?(Hash) && new.is_a?(Hash) ? old.merge(new) { |_, one, other| merged(one, other) } : new
    end
  end

  def on_supported_os(options = {})
    facter = RspecPuppetFacts.facter_version(options)
    models = Array(options[:hardwaremodels] || "x86_64")
    wanted = Wanted.all(options[:supported_os] || RspecPuppetFacts.meta_supported_os, models, facter)
    found = RspecPuppetFacts.sets.choose(wanted, facter)
    warn "No facts were found in the FacterDB for: #{wanted.inspect}" if found.empty?
    found.each_with_object({}) do |set, all|
      next unless set.name.start_with?(ENV["SPEC_FACTS_OS"].to_s)
      facts = RspecPuppetFacts.deep_copy(set.facts).transform_keys(&:to_sym).merge(COMMON)
      facts = RspecPuppetFacts.with_custom_facts(set.name, facts)
      all[set.name] = RSpec.configuration.facterdb_string_keys ? facts.transform_keys(&:to_s) : facts
    end
  end

  def add_custom_fact(name, value, options = {}) = RspecPuppetFacts.register_custom_fact(name, value, options)
end
