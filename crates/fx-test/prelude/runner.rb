# One run: options, files, filters, order, report, exit code.
module RSpec
  module Core
    # A report that cannot be written as it was asked for.
    class NoReport < StandardError; end

    # Where reports go: each format with its file.
    class Outputs
      attr_reader :formatters
      def initialize(wishes)
        @files, @formatters = [], []
        @wishes = wishes || []
        @free = @wishes.empty?
      end
      # Once the libraries are read that may bring formatters.
      def begin = fill(@free ? [["progress", nil]] : @wishes)
      # What the project's own settings ask for, once they are known.
      def settle(wishes)
        return unless @free && wishes
        @formatters.clear
        fill(wishes)
      end
      def fill(wishes)
        wishes.each { |name, path| @formatters << open(name, path) }
      rescue SystemCallError => e
        raise NoReport, "the report cannot be written: #{e.message}"
      end
      def open(name, path)
        kind = Formatters::KINDS[name]
        own = Formatters.custom(name) unless kind || FxPart.teller?
        unless kind || own
          raise NoReport, "the formatter #{name} needs one machine for all files: --jobs 1" if FxPart.teller?
          raise NoReport, "Formatter '#{name}' unknown; there are #{Formatters::KINDS.keys.join(", ")}"
        end
        @files << File.open(path, "w") if path.is_a?(String)
        out = path.is_a?(String) ? @files.last : path || $stdout
        kind ? kind.new(out) : Formatters::Custom.new(own, out)
      end
      def close
        @files.each(&:close)
      rescue SystemCallError => e
        raise NoReport, "the report cannot be written: #{e.message}"
      end
    end

    class Runner
      # Options as JSON: files, formats with the files they go to, tags, names, order.
      def self.main(text)
        require "json"
        options = ::JSON.parse(text)
        FxPart.teller? ? Teller.new(options).run : new(options).run
      rescue NoReport => e
        warn(e.message)
        1
      end
      def self.run(options) = new(options).run
      def initialize(options) = @options = options

      def run
        began = now
        config = Runner.configure(@options)
        outputs = FxPart.part? ? nil : Outputs.new(@options["formats"])
        reporter = Reporter.new(outputs ? outputs.formatters : [Part.new])
        ["lib", "spec", *@options["include"]].each { |dir| $LOAD_PATH.unshift(File.expand_path(dir)) }
        RSpec::Puppet::Fixtures.prepare
        Array(@options["require"]).each { |name| require name }
        outputs&.begin
        load_files(reporter)
        outputs&.settle(config.formatter_wishes)
        loaded = now
        chosen = choose { |matching, any| outputs ? nil : Part.loaded(reporter, matching, any) }
        reporter.start(chosen.size)
        reporter.started(loaded - began)
        run_groups(reporter, chosen) if chosen && reporter.errors.empty?
        reporter.finish(now - loaded, loaded - began)
        outputs&.close
        Statuses.keep(RSpec.world.all_examples) if outputs
        Runner.code(reporter)
      end

      # Settings that the command line gives.
      def self.configure(options)
        config = RSpec.configuration
        config.fail_fast = options["fail_fast"]
        config.seed = options["seed"] if options["seed"]
        config.order = options["order"] || :defined
        Ordering.forced = options["order"] if options["order_given"]
        config.seed = rand(0xFFFF) if Ordering.random? && !options["seed"]
        config.profile_examples = options["profile"] if options["profile"]
        config.only_failures = true if options["only_failures"]
        config
      end
      def self.code(reporter)
        return 0 if reporter.errors.empty? && reporter.failed.empty? && !RSpec.world.non_example_failure
        RSpec.configuration.failure_exit_code
      end

      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      private

      def now = Runner.now

      def load_files(reporter)
        @lines = {}
        files = @options["files"].map do |wish|
          path, *lines = wish.split(":")
          @lines[File.expand_path(path)] = lines.map(&:to_i) unless lines.empty?
          path
        end
        Statuses.wanted(files, @options).each do |file|
          load File.expand_path(file)
        rescue SystemExit, Interrupt
          raise
        rescue Exception => e # rubocop:disable Lint/RescueException
          reporter.error_outside(e, "An error occurred while loading #{Place.relative(file)}.")
        end
      end

      # The examples that are run. In a part somebody else knows which filters mean something at all.
      def choose
        config = RSpec.configuration
        all = RSpec.world.all_examples
        matching = config.filters_that_match(all)
        answer = yield matching, all.any? { |one| Metadata.matches_any?(config.inclusion_filter, one.metadata) }
        return [] if answer && !answer["run"]
        config.settle_filters(answer ? answer["matching"] : matching)
        all = Statuses.failed_before(all) if config.only_failures
        config.filter_run_including(locations: @lines) unless @lines.empty?
        Array(@options["tags"]).each do |name, value, wanted|
          (wanted ? config.inclusion_filter : config.exclusion_filter)[name.to_sym] = value
        end
        only = Array(@options["only"]).map { |text| Regexp.new(Regexp.escape(text)) }
        all = all.select { |one| only.any? { |text| one.metadata[:full_description].match?(text) } } unless only.empty?
        all = all.reject { |one| excluded?(one) }
        return all if config.inclusion_filter.empty?
        wanted = all.select { |one| Metadata.matches_any?(config.inclusion_filter, one.metadata) }
        # A filter that leaves nothing at all may count for nothing.
        return wanted unless wanted.empty? && config.run_all_when_everything_filtered
        answer.nil? || answer["filtered"] ? all : wanted
      end

      # `if:` and `unless:` of an example itself, and what the run leaves out.
      def excluded?(one)
        return true if one.metadata.key?(:if) && !holds?(one.metadata[:if])
        return true if one.metadata.key?(:unless) && holds?(one.metadata[:unless])
        Metadata.matches_any?(RSpec.configuration.exclusion_filter, one.metadata)
      end
      def holds?(value) = value.respond_to?(:call) ? value.call : value

      def run_groups(reporter, chosen)
        chosen = chosen.to_h { |one| [one, true] }.compare_by_identity
        suite(:before, reporter)
        groups = Ordering.of(RSpec.world.groups, Ordering.global)
        groups.each { |group| GroupRun.new(reporter, chosen).run(group) } if reporter.errors.empty?
        suite(:after, reporter)
      end

      def suite(position, reporter)
        RSpec.configuration.hooks.of(position, :suite, {}).each do |hook|
          ExampleGroup.new.instance_exec(&hook.block)
        rescue StandardError => e
          reporter.error_outside(e, "An error occurred in a `#{position}(:suite)` hook.")
        end
      end
    end

    class ExampleGroup
      include RSpec::Matchers
      include RSpec::Mocks::ExampleMethods
    end
  end
end

# Specs begin with a bare `describe`.
%i[describe context fdescribe xdescribe shared_examples shared_examples_for shared_context].each do |name|
  Module.define_method(name) { |*args, &block| RSpec.public_send(name, *args, &block) }
  TOPLEVEL_BINDING.receiver.define_singleton_method(name) { |*args, &block| RSpec.public_send(name, *args, &block) }
end
