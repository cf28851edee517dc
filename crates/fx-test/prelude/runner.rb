# One run: options, files, filters, order, report, exit code.
module RSpec
  module Core
    class Runner
      # Options as JSON: files, formats with the files they go to, tags, names, order.
      def self.main(text)
        require "json"
        run(::JSON.parse(text))
      rescue NoReport => e
        warn(e.message)
        1
      end
      # A report that cannot be written as it was asked for.
      class NoReport < StandardError; end
      def self.run(options) = new(options).run
      def initialize(options) = @options = options

      def run
        began = now
        config = RSpec.configuration
        config.fail_fast = @options["fail_fast"]
        config.seed = @options["seed"] if @options["seed"]
        config.order = @options["order"] || :defined
        config.seed = rand(0xFFFF) if Ordering.random? && !@options["seed"]
        outputs = open_outputs
        reporter = Reporter.new(outputs.map(&:first))
        ["lib", "spec", *@options["include"]].each { |dir| $LOAD_PATH.unshift(File.expand_path(dir)) }
        RSpec::Puppet::Fixtures.prepare
        Array(@options["require"]).each { |name| require name }
        load_files(reporter)
        loaded = now
        chosen = choose
        reporter.start(chosen.size)
        run_groups(reporter, chosen) if reporter.errors.empty?
        reporter.finish(now - loaded, loaded - began)
        close(outputs)
        reporter.errors.empty? && reporter.failed.empty? ? 0 : config.failure_exit_code
      end

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      def open_outputs
        wishes = @options["formats"]
        wishes = [["progress", nil]] if wishes.nil? || wishes.empty?
        wishes.map do |name, path|
          kind = Formatters::KINDS[name]
          raise NoReport, "Formatter '#{name}' unknown; there are #{Formatters::KINDS.keys.join(", ")}" unless kind
          out = path ? File.open(path, "w") : $stdout
          [kind.new(out), out]
        rescue SystemCallError => e
          raise NoReport, "the report cannot be written: #{e.message}"
        end
      end

      def close(outputs)
        outputs.each { |_, out| out.close unless out.equal?($stdout) }
      rescue SystemCallError => e
        raise NoReport, "the report cannot be written: #{e.message}"
      end

      def load_files(reporter)
        @lines = {}
        files = @options["files"].map do |wish|
          path, *lines = wish.split(":")
          @lines[File.expand_path(path)] = lines.map(&:to_i) unless lines.empty?
          path
        end
        files.each do |file|
          load File.expand_path(file)
        rescue SystemExit, Interrupt
          raise
        rescue Exception => e # rubocop:disable Lint/RescueException
          reporter.error_outside(e, "An error occurred while loading #{Place.relative(file)}.")
        end
      end

      def choose
        config = RSpec.configuration
        all = RSpec.world.all_examples
        config.settle_filters(all)
        config.filter_run_including(locations: @lines) unless @lines.empty?
        Array(@options["tags"]).each do |name, value, wanted|
          (wanted ? config.inclusion_filter : config.exclusion_filter)[name.to_sym] = value
        end
        only = Array(@options["only"]).map { |text| Regexp.new(Regexp.escape(text)) }
        all = all.select { |one| only.any? { |text| one.metadata[:full_description].match?(text) } } unless only.empty?
        all = all.reject { |one| excluded?(one) }
        return all if config.inclusion_filter.empty?
        all.select { |one| Metadata.matches_any?(config.inclusion_filter, one.metadata) }
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
        groups = Ordering.of(RSpec.world.groups)
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
