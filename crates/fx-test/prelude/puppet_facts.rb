# on_supported_os: facts of the systems that a module's metadata names, from files in facterdb's layout.
module RspecPuppetFacts
  FACTER = "4.2"

  class << self
    def custom_facts = @custom_facts ||= []
    def metadata
      file = "metadata.json"
      raise StandardError, "Can't find metadata.json... dunno why" unless File.file?(file)
      require "json"
      @metadata ||= ::JSON.parse(File.read(file))
    end
    # Folders with sets of facts: those that the environment names, and those of an installed facterdb.
    def folders
      given = ENV["FACTERDB_SEARCH_PATHS"].to_s.split(File::PATH_SEPARATOR)
      return given if ENV["FACTERDB_SKIP_DEFAULTDB"]
      given + Dir["/usr/share/rubygems-integration/*/gems/facterdb-*/facts", "/var/lib/gems/*/gems/facterdb-*/facts"]
    end
    def sets
      require "json"
      @sets ||= begin
        found = folders.flat_map { |dir| Dir["#{dir}/**/*.facts"].sort }.filter_map do |file|
          [File.basename(file, ".facts"), ::JSON.parse(File.read(file))] if file.include?("/#{FACTER}")
        rescue ::JSON::ParserError
          nil
        end
        found.empty? && !ENV["FACTERDB_SKIP_DEFAULTDB"] ? Shipped.all : found
      end
    end
    def release_of(facts)
      facts["operatingsystemmajrelease"] || facts.dig("os", "release", "major") || ""
    end
    def name_of(facts) = facts["operatingsystem"] || facts.dig("os", "name") || ""
    def deep_copy(value)
      case value
      when Hash then value.to_h { |key, one| [key, deep_copy(one)] }
      when Array then value.map { |one| deep_copy(one) }
      when String then value.dup
      else value
      end
    end
  end

  def on_supported_os(options = {})
    systems = options[:supported_os] || RspecPuppetFacts.metadata["operatingsystem_support"] || []
    wanted = ENV["SPEC_FACTS_OS"]
    RspecPuppetFacts.sets.each_with_object({}) do |(_, facts), all|
      name, major = RspecPuppetFacts.name_of(facts), RspecPuppetFacts.release_of(facts).to_s
      next unless systems.any? { |one| supports?(one, name, major) }
      os = "#{name.downcase}-#{major}-#{facts["hardwaremodel"] || facts.dig("os", "hardware")}"
      next if wanted && !os.start_with?(wanted)
      made = RspecPuppetFacts.deep_copy(facts).transform_keys(&:to_sym)
      made[:puppetversion] = "7.23.0"
      made[:rubysitedir] = "/usr/local/lib/site_ruby/3.1.0"
      made[:rubyversion] = "3.1.2"
      add_custom(made, os)
      all[os] = made
    end
  end

  def add_custom_fact(name, value, options = {}) = RspecPuppetFacts.custom_facts << [name.to_sym, value, options]

  private

  def supports?(one, name, major)
    wanted = one["operatingsystem"] || one[:operatingsystem]
    releases = one["operatingsystemrelease"] || one[:operatingsystemrelease]
    return false unless wanted == name
    releases.nil? || releases.any? { |release| release == major || release.split(".").first == major }
  end
  def add_custom(facts, os)
    RspecPuppetFacts.custom_facts.each do |name, value, options|
      confine, exclude = Array(options[:confine]), Array(options[:exclude])
      next if !confine.empty? && !confine.include?(os) || exclude.include?(os)
      facts[name] = value.respond_to?(:call) ? value.call(os, facts) : value
    end
  end
end
