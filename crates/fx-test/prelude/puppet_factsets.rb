# Sets of facts in facterdb's layout, FOLDER/FACTERVERSION/SYSTEM.facts. An installed one has more than a thousand
# files, so only those are read whose version and name may be the wanted ones.
module RspecPuppetFacts
  # A file with the facts of one system.
  class FactSet
    attr_reader :line, :version
    # `line` is the minor version that the folder names; a file elsewhere is read to know it.
    def self.at(path, is_named)
      line = File.basename(File.dirname(path))
      is_placed = is_named && line.match?(/\A\d+\.\d+\z/)
      new(is_placed ? line : nil, is_placed ? File.basename(path).downcase : nil) { ::JSON.parse(File.read(path)) }
    end
    def initialize(line, file = nil, &read)
      @line, @file, @read = line, file, read
      @line ||= version.segments.first(2).join(".")
    end
    def facts
      @facts ||= @read.call
    rescue ::JSON::ParserError
      @facts = {}
    end
    def version = @version ||= Gem::Version.new(facts["facterversion"] || "0")
    def system = facts["operatingsystem"] || facts.dig("os", "name") || ""
    def release = (facts["operatingsystemrelease"] || facts.dig("os", "release", "full") || "").to_s
    def major
      (facts["operatingsystemmajrelease"] || facts.dig("os", "release", "major") || release.split(".")[0]).to_s
    end
    def hardware = facts["hardwaremodel"] || facts.dig("os", "hardware") || ""
    # Whether it may be one of this system, as far as that is known without reading it.
    def may_be?(system) = @file.nil? || @file.start_with?(system.downcase)
    # The name under which specs get it.
    def name = "#{system.downcase}-#{shown_release}-#{hardware}"

    private

    def shown_release
      return release.split(".").first(2).join(".") if system == "Ubuntu"
      return release if system == "OpenBSD"
      return "2016" if system == "windows" && release.start_with?("10.0.")
      major
    end
  end

  # One system in one release that metadata names.
  class Wanted
    attr_reader :system
    def self.all(supported, models, facter)
      supported.flat_map do |one|
        system = (one["operatingsystem"] || one[:operatingsystem]).to_s
        releases = one["operatingsystemrelease"] || one[:operatingsystemrelease]
        releases = releases ? Array(releases) : [nil]
        releases.flat_map { |release| models.map { |model| new(system, release, model, facter) } }
      end
    end
    def initialize(system, release, model, facter)
      @system, @release, @model = system, release && "/^#{Regexp.escape(release.split(" ")[0])}/", model
      special(release, facter) if release
    end
    def match?(set)
      set.system == @system && fits?(@model, set.hardware) && (@release.nil? || fits?(@release, set.release))
    end
    # As the filter that it is in facterdb.
    def inspect
      filter = { operatingsystem: @system, operatingsystemrelease: @release, hardwaremodel: @model }
      filter.compact.inspect
    end
    alias to_s inspect

    private

    # Systems whose machines or releases go by other names in facts.
    def special(release, facter)
      case @system
      when /BSD/i then @model = "amd64"
      when /Solaris/i then @model = "i86pc"
      when /AIX/i
        @model = "/^IBM,.*/"
        @release = release =~ /\A(\d+)\.(\d+)\Z/ ? "/^#{$1}#{$2}00-/" : "/^#{release}-/"
      when /Windows/i
        @model = facter.match?(/\A[12]\./) ? "x64" : "x86_64"
        @system = @system.downcase
        release = release[/\A(?:Server )?(.+)/i, 1]
        is_old = release == "2016" && Gem::Version.new(facter) < Gem::Version.new("3.4")
        @release = is_old ? "/^10\\.0\\./" : "\"#{release}\""
      when /Amazon/i then @release = "/^2$/" if release == "2"
      end
    end

    # Between slashes it is a pattern, otherwise all of the value, quoted or not.
    def fits?(wanted, value)
      (@patterns ||= {})[wanted] ||= wanted.start_with?("/") ? Regexp.new(wanted[1..-2]) : wanted.delete("\"")
      known = @patterns[wanted]
      known.is_a?(Regexp) ? known.match?(value) : known == value
    end
  end

  # All sets that are at hand, in the order of their files.
  class FactSets
    def initialize
      require "json"
      given = ENV["FACTERDB_SEARCH_PATHS"].to_s.split(File::PATH_SEPARATOR).flat_map { |dir| files(dir, false) }
      own = ENV["FACTERDB_SKIP_DEFAULTDB"] ? [] : installed
      @sets = given + own
      return unless @sets.empty? && !ENV["FACTERDB_SKIP_DEFAULTDB"]
      @ships = true
      @sets = Shipped.all.map { |facts| FactSet.new(nil) { facts } }
    end

    # The sets for what is wanted, of the wanted version of Facter or the newest one before it.
    def choose(wanted, facter)
      chosen = wanted.flat_map { |one| @ships ? matching(one, @sets) : of_version(one, facter) }
      @sets.select { |set| chosen.include?(set) }
    end

    private

    def installed
      gem = Gem::Specification.find_all_by_name("facterdb").first
      return files(File.join(gem.full_gem_path, "facts"), true) if gem
      bundled = Dir["/opt/puppetlabs/pdk/share/cache/ruby/*/gems/facterdb-*/facts"].last
      bundled ? files(bundled, true) : []
    end
    def files(dir, is_named) = Dir["#{dir}/**/*.facts"].map { |path| FactSet.at(path, is_named) }
    def matching(one, sets) = sets.select { |set| set.may_be?(one.system) && one.match?(set) }

    def of_version(one, facter)
      line = facter[/\A\d+\.\d+/]
      found = matching(one, lines.fetch(line, []))
      return found unless found.empty?
      if ENV["SPEC_FACTS_STRICT"] == "yes"
        raise ArgumentError, "No facts were found in the FacterDB for Facter v#{facter} on #{one}, aborting"
      end
      before(one, Gem::Version.new(facter)) do |newest|
        warn "No facts were found in the FacterDB for Facter v#{facter} on #{one}, using v#{newest} instead"
      end
    end

    # The sets of the newest version that is not after the wanted one.
    def before(one, wanted)
      sorted_lines.each do |line|
        next if Gem::Version.new(line) > wanted
        near = matching(one, lines[line]).select { |set| set.version <= wanted }
        next if near.empty?
        newest = near.map(&:version).max
        yield newest unless newest == wanted
        return near.select { |set| set.version.to_s.start_with?(newest.to_s) }
      end
      []
    end
    def lines = @lines ||= @sets.group_by(&:line)
    def sorted_lines = @sorted_lines ||= lines.keys.sort_by { |line| Gem::Version.new(line) }.reverse
  end
end
