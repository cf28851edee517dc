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
      OBJECTS[name] = Value.new(name) if FACTS.key?(name) || !Puppet::Bridge.fact(name).nil?
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
    end
    alias reset clear
    alias __fresh clear
    def flush = CACHE.clear
    def clear_messages = nil
    def collection = self
    def internal_loader = Loader
    def loadfacts = Loader.load_all
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
      $LOAD_PATH.each { |dir| read(File.join(dir, "facter", "#{name}.rb")) }
    end
    def self.load_all
      $LOAD_PATH.each { |dir| Dir[File.join(dir, "facter", "*.rb")].sort.each { |file| read(file) } }
    end
    def self.read(file)
      return if Facter.read_files[file] || !File.file?(file)
      Facter.read_files[file] = true
      Kernel.load(file)
    rescue ScriptError, StandardError => e
      Puppet.err("Facter: Error loading fact #{file}: #{e.message}")
    end
  end

  class Value
    def value
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
