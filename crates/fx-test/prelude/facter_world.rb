# Facter as specs of facts know it: facts are objects that can be stubbed, found in the libraries of modules.
Puppet::Bridge.part("facter")
Puppet.__eager = true
module Facter
  OBJECTS = {}
  module Util
    Fact = Facter::Value
  end
  class << self
    def fact(name)
      name = name.to_s.downcase
      return OBJECTS[name] if OBJECTS.key?(name)
      seek(name) unless FACTS.key?(name)
      OBJECTS[name] = Value.new(name) if External.key?(name) || FACTS.key?(name) || !Puppet::Bridge.fact(name).nil?
    end
    alias [] fact
    def value(name) = fact(name)&.value
    def add(name, options = {}, &block)
      name = name.to_s.downcase
      OBJECTS[name] ||= Value.new(name)
      CACHE.delete(name)
      resolution = Resolution.new(name, options)
      (FACTS[name] ||= []) << resolution
      resolution.instance_eval(&block) if block
      OBJECTS[name]
    end
    def clear
      [FACTS, OBJECTS, CACHE].each(&:clear)
      @sought = @read = nil
      External.forget
    end
    def reset
      clear
      @search = @external = nil
    end
    alias __fresh clear
    def flush = CACHE.clear
    def clear_messages = nil
    def collection = self
    def internal_loader = Loader
    def loadfacts = Loader.load_all
    # Directories with facts in Ruby, and such with facts in files.
    def search(*dirs) = (@search ||= []).concat(dirs.flatten.map(&:to_s))
    def search_path = (@search || []).dup
    def search_external(dirs)
      External.forget
      (@external ||= []).concat(Array(dirs).map(&:to_s))
    end
    def search_external_path = (@external || []).dup
    def list = FACTS.keys | Puppet::Bridge.facts.keys
    def to_hash = Puppet::Bridge.facts.merge(FACTS.keys.to_h { |name| [name, value(name)] })
    def version = "4.2.14"

    # Looks for the file of the name; then whatever files there are.
    def seek(name)
      return if (@sought ||= {})[name]
      @sought[name] = true
      Loader.load(name)
      Loader.load_all if !FACTS.key?(name) && Puppet::Bridge.fact(name.split(".").first).nil?
    end
    def read_files = @read ||= {}
  end

  module Loader
    def self.load(name)
      Facter.search_path.each { |dir| read(File.join(dir, "#{name}.rb")) }
      $LOAD_PATH.each { |dir| read(File.join(dir, "facter", "#{name}.rb")) }
    end
    def self.load_all
      dirs = Facter.search_path + $LOAD_PATH.map { |dir| File.join(dir, "facter") }
      dirs.each { |dir| Dir[File.join(dir, "*.rb")].sort.each { |file| read(file) } }
    end
    def self.read(file)
      return if Facter.read_files[file] || !File.file?(file)
      Facter.read_files[file] = true
      Kernel.load(file)
    rescue ScriptError, StandardError => e
      Puppet.err("Facter: Error loading fact #{file}: #{e.message}")
    end
  end

  # Facts in files: text, YAML, JSON, and what programs print.
  module External
    class << self
      def forget = @facts = nil
      def key?(name) = facts.key?(name)
      def value(name) = facts[name]

      private

      def facts
        @facts ||= Facter.search_external_path.flat_map { |dir| Dir[File.join(dir, "*")].sort }
          .each_with_object({}) { |file, all| all.merge!(of(file).transform_keys { |name| name.to_s.downcase }) }
      end

      def of(file)
        case File.extname(file)
        when ".txt" then pairs(File.read(file))
        when ".yaml", ".yml" then hash(YAML.load_file(file))
        when ".json" then hash(JSON.parse(File.read(file)))
        else File.file?(file) && File.executable?(file) ? printed(Puppet::Util::Execution.execute([file])) : {}
        end
      rescue StandardError => e
        Puppet.err("Facter: error while processing #{file}: #{e.message}")
        {}
      end

      def hash(found) = found.is_a?(Hash) ? found : {}

      def printed(text)
        found = YAML.safe_load(text.to_s)
        found.is_a?(Hash) ? found : pairs(text.to_s)
      end

      def pairs(text)
        text.lines.filter_map { |line| line.chomp.split("=", 2) if line.include?("=") }.to_h
      end
    end
  end

  class Value
    def value
      return External.value(name) if External.key?(name)
      return CACHE[name] if CACHE.key?(name)
      return Puppet::Bridge.fact(name) unless FACTS.key?(name)
      CACHE[name] = nil
      CACHE[name] = Facter.resolve(name)
    end
    def flush = CACHE.delete(name)
    def resolution(label) = FACTS[name].to_a.find { |one| one.label == label }
    def add(options = {}, &block) = Facter.add(name, options, &block)
  end
end
