# Facts: what code asks of Facter, and facts that modules add.
module Facter
  FACTS = {}
  CACHE = {}
  def self.[](name) = Value.new(name.to_s)
  def self.fact(name) = Value.new(name.to_s)
  def self.value(name)
    name = name.to_s.downcase
    return CACHE[name] if CACHE.key?(name)
    if FACTS.key?(name)
      CACHE[name] = nil
      return CACHE[name] = resolve(name)
    end
    Puppet::Bridge.fact(name)
  end
  def self.resolve(name)
    found = FACTS[name].select(&:suitable?).sort_by { |r| -r.weight }
    found.each do |r|
      begin
        v = r.value
      rescue StandardError => e
        Puppet.err("Facter: Error while resolving custom fact fact='#{name}', resolution='#{r.label}': #{e.message}")
        next
      end
      return v unless v.nil?
    end
    nil
  end
  def self.add(name, options = {}, &block)
    r = Resolution.new(name.to_s.downcase, options)
    (FACTS[name.to_s.downcase] ||= []) << r
    r.instance_eval(&block) if block
    r
  end
  # Reads files of modules and finds out what they define.
  def self.__load(files, only = nil)
    files.each do |file|
      begin
        load(file)
      rescue ScriptError => e
        Puppet.err("Facter: Error loading fact #{file}: #{e.message}")
      rescue StandardError => e
        Puppet.err("Facter: error while resolving custom facts in #{file} #{e.message}")
      end
    end
    names = FACTS.keys
    names = names.select { |name| only.any? { |one| one == name || one.start_with?("#{name}.") } } if only
    names.to_h { |name| [name, __plain(value(name))] }.reject { |_, v| v.nil? }
  end
  # Symbols are text in facts.
  def self.__plain(v)
    case v
    when Symbol then v.to_s
    when Array then v.map { |x| __plain(x) }
    when Hash then v.to_h { |k, x| [k.is_a?(Symbol) ? k.to_s : k, __plain(x)] }
    else v
    end
  end
  def self.define_fact(name, _o = {}, &b) = add(name, &b)
  def self.to_hash = Puppet::Bridge.facts
  def self.list = Puppet::Bridge.facts.keys
  def self.version = "4.3.0"
  ONCE = []
  private_constant :ONCE
  def self.debug(m = nil) = Puppet.debug("Facter: #{block_given? ? yield : m}")
  def self.debugonce(m) = (__once(:debug, m) { debug(m) })
  def self.warn(m) = Puppet.warning("Facter: #{m}")
  def self.warnonce(m) = (__once(:warn, m) { warn(m) })
  def self.__once(*what)
    return if ONCE.include?(what)
    ONCE << what
    yield
  end
  def self.log_exception(e, m = nil) = Puppet.err("Facter: #{m || e.message}")
  def self.debugging? = false
  def self.clear = CACHE.clear
  def self.flush = CACHE.clear
  def self.loadfacts = nil
  def self.search(*) = nil
  def self.search_external(*) = nil
  def self.each(&b) = Puppet::Bridge.facts.each(&b)
  def self.on_message = nil
  def self.exist?(n) = !value(n).nil?
  Value = Struct.new(:name) do
    def value = Facter.value(name)
  end
  class Resolution
    def initialize(name, options)
      @name = name
      @label = options[:name]
      @confines = []
      @weight = options[:weight]
      @type = options[:type]
      @chunks = []
    end
    def has_weight(w) = @weight = w
    def weight = @weight || @confines.size
    def setcode(text = nil, &block)
      @code = block || -> { Facter::Core::Execution.execute(text) }
    end
    def confine(*args, &block)
      @confines << (block && args.empty? ? block : args.first.is_a?(Hash) ? args.first : [args.first, block])
    end
    # What messages call it.
    def label = @label || "<anonymous>"
    def timeout=(_t); end
    def name=(name)
      @label = name
    end
    def on_flush = nil
    def chunk(name, options = {}, &block) = @chunks << [name, block, Array(options[:require])]
    def aggregate(&block) = @aggregate = block
    def suitable?
      @confines.all? do |c|
        case c
        when Hash then c.all? { |k, v| match(Facter.value(k), v) }
        when Array then (v = Facter.value(c[0])).nil? ? false : c[1] ? c[1].call(v) : true
        else c.call
        end
      end
    end
    def match(fact, wanted)
      Array(wanted).any? do |w|
        case w
        when Regexp then w.match?(fact.to_s)
        when Range then w.include?(fact)
        when Proc then w.call(fact)
        else w.to_s.downcase == fact.to_s.downcase
        end
      end
    end
    def value
      return instance_exec(&@code) if @code
      return nil if @chunks.empty?
      parts = {}
      waiting = @chunks.dup
      until waiting.empty?
        ready = waiting.select { |_, _, needs| needs.all? { |n| parts.key?(n) } }
        raise "chunks of #{@name} need each other" if ready.empty?
        ready.each { |n, b, needs| parts[n] = instance_exec(*needs.map { |x| parts[x] }, &b) }
        waiting -= ready
      end
      return instance_exec(parts, &@aggregate) if @aggregate
      parts.values.reduce { |a, b| together(a, b) }
    end
    # Parts of a fact become one, all the way down.
    def together(a, b)
      return a.merge(b) { |_, x, y| together(x, y) } if a.is_a?(Hash) && b.is_a?(Hash)
      return a + b if a.is_a?(Array) && b.is_a?(Array)
      raise "Cannot merge #{a.inspect}:#{a.class} and #{b.inspect}:#{b.class}"
    end
  end
  module Util
    module Resolution
      def self.exec(c) = Facter::Core::Execution.execute(c, on_fail: nil)
      def self.which(b) = Puppet::Util.which(b)
    end
    module Config; end
  end
  module Core
    module Execution
      class ExecutionFailure < StandardError; end
      def self.execute(command, options = {})
        on_fail = options.fetch(:on_fail, :raise)
        line = __expanded(command, options.fetch(:expand, true))
        return Array(execute_command(line, on_fail)).first if line
        raise ExecutionFailure, "Could not execute '#{command}': command not found" if on_fail == :raise
        on_fail
      end
      # The line, where the shell would find the program that it begins with.
      def self.__expanded(command, expand)
        program = command[/\A\s*(?:"([^"]+)"|'([^']+)'|(\S+))/] && ($1 || $2 || $3)
        command if program && (which(program) || !expand && BUILT_IN.include?(program))
      end
      BUILT_IN = %w[. : cd command echo eval exec export printf read set test type ulimit umask].freeze
      def self.exec(command) = execute(command, on_fail: nil)
      def self.which(bin) = Puppet::Util.which(bin)
      # Both outputs; what the caller wants where the command does not even begin.
      def self.execute_command(command, on_fail = nil, *)
        out, err, = Open3.capture3({ "LANG" => "C", "LC_ALL" => "C" }, command)
        [out.chomp, err.chomp]
      rescue SystemCallError => e
        raise ExecutionFailure, "Failed while executing '#{command}': #{e.message}" if on_fail == :raise
        on_fail
      end
    end
  end
end
