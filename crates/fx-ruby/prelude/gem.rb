# Gems without RubyGems: versions, requirements, and where a library is installed.
module Gem
  VERSION = "3.4.0"
  class LoadError < ::LoadError
  end
  class Version
    include Comparable
    attr_reader :version
    def self.correct?(v) = /\A\s*([0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)?\s*\z/.match?(v.to_s)
    def self.create(v) = Version === v ? v : (v.nil? ? nil : new(v))
    def initialize(v)
      raise ArgumentError, "Malformed version number string #{v}" unless Version.correct?(v)
      v = v.to_s.strip
      v = "0" if v.empty?
      @version = v.gsub("-", ".pre.")
    end
    def segments = @version.scan(/[0-9]+|[a-z]+/i).map { |s| s =~ /\A\d/ ? s.to_i : s }
    def prerelease? = @version.match?(/[a-zA-Z]/)
    def release
      return self unless prerelease?
      s = segments
      s.pop while s.any? { |x| String === x }
      Version.new(s.join("."))
    end
    def bump
      s = segments
      s.pop while s.any? { |x| String === x }
      s.pop if s.size > 1
      s[-1] = s[-1].succ
      Version.new(s.join("."))
    end
    def canonical_segments
      s = segments
      i = s.index { |x| String === x } || s.size
      strip = ->(a) { a = a.dup; a.pop while a.size > 0 && a.last == 0; a }
      strip.(s[0...i]) + strip.(s[i..])
    end
    def <=>(o)
      o = Version.new(o) if String === o && Version.correct?(o)
      return nil unless Version === o
      return 0 if @version == o.version
      a, b = canonical_segments, o.canonical_segments
      n = [a.size, b.size].max
      n.times do |i|
        x, y = a[i] || 0, b[i] || 0
        next if x == y
        return -1 if String === x && Numeric === y
        return 1 if Numeric === x && String === y
        return x <=> y
      end
      0
    end
    def eql?(o) = Version === o && @version == o.version
    def hash = canonical_segments.hash
    def to_s = @version
    def inspect = "#<Gem::Version #{@version.inspect}>"
    def approximate_recommendation
      s = segments
      s.pop while s.any? { |x| String === x }
      s.pop while s.size > 2
      s.push 0 while s.size < 2
      "~> #{s.join(".")}"
    end
  end
  class Requirement
    class BadRequirementError < ArgumentError
    end
    OPS = {
      "=" => ->(v, r) { v == r }, "!=" => ->(v, r) { v != r }, ">" => ->(v, r) { v > r },
      "<" => ->(v, r) { v < r }, ">=" => ->(v, r) { v >= r }, "<=" => ->(v, r) { v <= r },
      "~>" => ->(v, r) { v >= r && v.release < r.bump }
    }
    attr_reader :requirements
    def self.default = new(">= 0")
    def self.create(*i) = Requirement === i[0] ? i[0] : new(*i)
    def self.parse(o)
      return ["=", o] if Version === o
      unless o.to_s =~ /\A\s*(=|!=|>=|<=|~>|>|<)?\s*([0-9]+(?:\.[0-9a-zA-Z]+)*(?:-[0-9A-Za-z.-]+)?)\s*\z/
        raise BadRequirementError, "Illformed requirement [#{o.inspect}]"
      end
      [$1 || "=", Version.new($2)]
    end
    def initialize(*r)
      r = r.flatten.compact.uniq
      @requirements = r.empty? ? [[">=", Version.new("0")]] : r.map { |x| self.class.parse(x) }
    end
    def satisfied_by?(v)
      raise ArgumentError, "Need a Gem::Version: #{v.inspect}" unless Version === v
      @requirements.all? { |op, rv| OPS[op].call(v, rv) }
    end
    def ===(v) = satisfied_by?(v)
    def =~(v) = satisfied_by?(v)
    def none? = @requirements.size == 1 && @requirements[0] == [">=", Version.new("0")]
    def exact? = @requirements.size == 1 && @requirements[0][0] == "="
    def prerelease? = @requirements.any? { |_, v| v.prerelease? }
    def specific? = true
    def as_list = @requirements.map { |op, v| "#{op} #{v}" }
    def to_s = as_list.join(", ")
    def ==(o) = Requirement === o && as_list.sort == o.as_list.sort
    def hash = as_list.hash
    def inspect = "Gem::Requirement.new(#{as_list.map(&:inspect).join(", ")})"
  end
  class Dependency
    attr_reader :name, :requirement
    def initialize(name, *reqs) = (@name, @requirement = name, Requirement.create(reqs))
    def match?(n, v) = n == @name && @requirement.satisfied_by?(Version.create(v))
  end
  class MissingSpecError < Gem::LoadError
    def initialize(name, requirement)
      @name, @requirement = name, requirement
      super("Could not find '#{name}' (#{requirement}) among #{Specification.all.size} total gem(s)\n" \
        "Checked in 'GEM_PATH=#{Gem.path.join(":")}' , execute `gem env` for more information")
    end
    attr_reader :name, :requirement
  end
  MissingSpecVersionError = Class.new(MissingSpecError)

  # A gem below one of the directories that gems are installed in: what its directory's name says.
  class Specification
    attr_reader :name, :version, :full_gem_path
    alias gem_dir full_gem_path
    def initialize(directory, name, version)
      @full_gem_path, @name, @version = directory, name, Version.new(version)
    end
    def full_name = "#{@name}-#{@version}"
    def base_dir = File.dirname(@full_gem_path, 2)
    def require_paths = ["lib"]
    def full_require_paths = [File.join(@full_gem_path, "lib")]
    def lib_dirs_glob = File.join(@full_gem_path, "lib")
    def activated? = Gem.loaded_specs.key?(@name)
    def dependencies = []
    def inspect = "#<Gem::Specification name=#{@name} version=#{@version}>"
    def holds?(feature)
      at = File.join(@full_gem_path, "lib", feature)
      File.file?(at) || File.file?("#{at}.rb")
    end
    def activate
      return false if activated?
      Gem.loaded_specs[@name] = self
      $LOAD_PATH.concat(full_require_paths)
      true
    end

    class << self
      include Enumerable
      # The newest of each name first.
      def all
        @all ||= Gem.path.flat_map { |home| Dir.glob("#{home}/gems/*/") }.filter_map { |directory|
          directory = directory.chomp("/")
          File.basename(directory) =~ /\A(.+?)-(\d+(?:\.[0-9A-Za-z]+)*)(?:-[a-z0-9_-]+)?\z/ && new(directory, $1, $2)
        }.sort { |a, b| a.name == b.name ? b.version <=> a.version : a.name <=> b.name }
      end
      def each(&block) = all.each(&block)
      def reset = @all = nil
      def stubs = all
      def find_all_by_name(name, *wanted)
        wanted = Requirement.create(*wanted)
        all.select { |spec| spec.name == name && wanted.satisfied_by?(spec.version) }
      end
      def find_by_name(name, *wanted)
        find_all_by_name(name, *wanted).first || raise(MissingSpecError.new(name, Requirement.create(*wanted)))
      end
      def find_by_path(feature) = all.find { |spec| spec.holds?(feature) }
    end
  end

  # Libraries that a distribution installs outside of gems.
  VENDOR = %w[/usr/local/lib/site_ruby /usr/lib/ruby/vendor_ruby /usr/share/ruby/vendor_ruby].freeze
  private_constant :VENDOR

  class << self
    def win_platform? = false
    def java_platform? = false
    def loaded_specs = @loaded_specs ||= {}
    def ruby_version = Version.new(RUBY_VERSION)
    def rubygems_version = Version.new(VERSION)
    def ruby = RbConfig.ruby
    def platforms = ["ruby"]
    def suffixes = ["", ".rb"]
    def try_activate(feature) = __activate_for(feature)
    def default_dir = "/var/lib/gems/3.2.0"
    def dir = ENV["GEM_HOME"] || default_dir
    def user_dir = File.join(Dir.home, ".local/share/gem/ruby/3.2.0")
    def clear_paths = (@path = nil; Specification.reset)
    # Where gems are: what the environment says, the project's own, the user's, the distribution's.
    def path
      @path ||= begin
        named = [ENV["GEM_HOME"], *ENV["GEM_PATH"].to_s.split(":")].reject { |at| at.to_s.empty? }
        own = Dir.glob("vendor/bundle/ruby/*").map { |at| File.expand_path(at) }
        home = ENV["HOME"].to_s
        user = home.empty? ? [] : Dir.glob(["#{home}/.local/share/gem/ruby/*", "#{home}/.gem/ruby/*"])
        shared = Dir.glob(%w[
          /var/lib/gems/* /usr/local/lib/ruby/gems/* /usr/lib/ruby/gems/* /usr/lib64/ruby/gems/* /usr/share/gems
          /usr/share/ruby/gems/* /usr/share/rubygems-integration/*
        ])
        (named + own + user + shared).select { |at| File.directory?("#{at}/gems") }.uniq
      end
    end
    def paths = self
    # For a file that no directory of the load path has: the newest gem that has it.
    def __activate_for(feature)
      spec = Specification.find_by_path(feature)
      return spec.activate if spec && !loaded_specs[spec.name]
      file = feature.end_with?(".rb") ? feature : "#{feature}.rb"
      vendor = VENDOR.find { |at| File.file?("#{at}/#{file}") && !$LOAD_PATH.include?(at) }
      $LOAD_PATH << vendor if vendor
      !vendor.nil?
    end
    def __require(name, wanted)
      loaded = loaded_specs[name]
      if loaded
        return false if Requirement.create(*wanted).satisfied_by?(loaded.version)
        raise Gem::LoadError, "can't activate #{name} (#{Requirement.create(*wanted)}), " \
          "already activated #{loaded.full_name}. Make sure all dependencies are added to Gemfile."
      end
      Specification.find_by_name(name, *wanted).activate
    end
  end
end
