# Settings of a run, and hooks and modules that belong to groups by their metadata.
module RSpec
  module Core
    class Configuration
      Included = Struct.new(:mod, :filter, :how)
      DEFAULTS = {
        color: false, order: :defined, fail_fast: nil, seed: 0, fail_if_no_examples: false,
        default_formatter: "progress", full_backtrace: false, dry_run: false, profile_examples: false,
        run_all_when_everything_filtered: false, expose_dsl_globally: true, failure_exit_code: 1,
        example_status_persistence_file_path: nil, raise_errors_for_deprecations: false, warnings: false,
        shared_context_metadata_behavior: :apply_to_host_groups, silence_filter_announcements: false,
        default_path: "spec", pattern: "**{,/*/**}/*_spec.rb", exclude_pattern: "",
        max_displayed_failure_line_count: 10,
        tty: false, color_mode: :automatic, libs: [], requires: [], drb: false, full_cause_backtrace: false,
        default_color: :white, success_color: :green, failure_color: :red, pending_color: :yellow, fixed_color: :blue,
        detail_color: :cyan, error_stream: nil, start_time: nil,
        raise_on_warning: false, deprecation_stream: nil, threadsafe: true, only_failures: false
      }.freeze

      DEFAULTS.each_key do |name|
        define_method(name) { @settings[name] }
        define_method("#{name}=") { |value| @settings[name] = value }
        define_method("#{name}?") { !!@settings[name] }
      end

      attr_reader :hooks, :included, :inclusion_filter, :exclusion_filter, :derived, :mock_framework_name

      def initialize
        @settings, @hooks, @included, @derived = DEFAULTS.dup, Hooks.new, [], []
        @inclusion_filter, @exclusion_filter, @custom = {}, {}, {}
        @mock_framework_name, @when_first = :rspec, []
      end

      # Settings that libraries declare: a reader, a writer and a question.
      def add_setting(name, options = {})
        @custom[name.to_sym] = options[:default] unless @custom.key?(name.to_sym)
        others = Array(options[:alias_with])
        [name, *others].each do |one|
          define_singleton_method(one) { @custom[name.to_sym] }
          define_singleton_method("#{one}=") { |value| @custom[name.to_sym] = value }
          define_singleton_method("#{one}?") { !!@custom[name.to_sym] }
        end
      end

      def include(mod, *filters) = bring(mod, filters, :include)
      def extend(mod, *filters) = bring(mod, filters, :extend)
      def prepend(mod, *filters) = bring(mod, filters, :prepend)
      def include_context(title, *filters)
        shared = RSpec.world.shared.find([], title)
        @included << Included.new(shared, Metadata.filter(filters), :context)
      end

      def before(*args, &block) = @hooks.add(:before, args, block)
      def prepend_before(*args, &block) = @hooks.add(:before, args, block, first: true)
      def after(*args, &block) = @hooks.add(:after, args, block, first: true)
      def append_after(*args, &block) = @hooks.add(:after, args, block)
      def around(*args, &block) = @hooks.add(:around, args, block)
      alias append_before before
      alias prepend_after after

      def filter_run_including(*args) = @inclusion_filter.merge!(Metadata.filter(args))
      alias filter_run filter_run_including
      def filter_run_excluding(*args) = @exclusion_filter.merge!(Metadata.filter(args))
      def filter_run_when_matching(*args) = @when_first << Metadata.filter(args)
      # Filters that count only where an example matches them, by their places.
      def filters_that_match(examples)
        @when_first.each_index.select do |at|
          examples.any? { |one| Metadata.matches?(@when_first[at], one.metadata) }
        end
      end
      def settle_filters(places) = places.each { |at| @inclusion_filter.merge!(@when_first[at]) }

      def define_derived_metadata(*filters, &block) = @derived << [Metadata.filter(filters), block]
      def alias_example_to(name, extra = {})
        ExampleGroup.define_singleton_method(name) do |*args, &block|
          args << (args.last.is_a?(Hash) ? args.pop : {}).merge(extra)
          it(*args, &block)
        end
      end
      def alias_it_behaves_like_to(name, _text = "")
        ExampleGroup.define_singleton_method(name) { |*args, &block| it_behaves_like(*args, &block) }
      end
      alias alias_it_should_behave_like_to alias_it_behaves_like_to

      def chose_mocks? = !!@chose_mocks
      def mock_with(framework)
        @chose_mocks = true
        @mock_framework_name = framework
        Mocks::Mocha.take_over if framework.to_s == "mocha"
        yield mock_settings if block_given?
      end
      def mock_framework = self
      def expect_with(*) = (yield expectation_settings if block_given?)
      def expectation_settings = @expectation_settings ||= Open.new
      def mock_settings = @mock_settings ||= Open.new

      def disable_monkey_patching! = nil
      def raise_errors_for_deprecations! = self.raise_errors_for_deprecations = true
      def alias_example_group_to(name, *filters)
        extra = Metadata.filter(filters)
        define = ->(home) do
          home.define_singleton_method(name) do |*args, &block|
            given = args.last.is_a?(Hash) ? args.pop : {}
            ExampleGroup.equal?(self) || !is_a?(Class) ? RSpec.describe(*args, extra.merge(given), &block) :
              describe(*args, extra.merge(given), &block)
          end
        end
        [ExampleGroup, RSpec, TOPLEVEL_BINDING.receiver].each(&define)
      end
      # A form of the report that counts where neither the command line nor `.rspec` names one.
      attr_reader :formatter_wishes
      def add_formatter(name, path = nil)
        name = name.to_s unless name.is_a?(Class)
        path = path&.to_s unless path.respond_to?(:write)
        (@formatter_wishes ||= []) << [name, path]
      end
      alias formatter= add_formatter
      def files_to_run = RSpec.world.groups.map(&:file_path).uniq
      def formatters = []
      def output_stream = $stdout
      def color_enabled? = false
      def reporter = RSpec::Core::Reporter.current
      def when_first_matching_example_defined(*) = nil
      def register_ordering(name, strategy = nil, &block) = Ordering.register(name, strategy, block)
      def backtrace_exclusion_patterns = @backtrace_exclusion_patterns ||= []
      def backtrace_inclusion_patterns = @backtrace_inclusion_patterns ||= []
      attr_writer :bisect_runner, :backtrace_exclusion_patterns, :backtrace_inclusion_patterns

      # Settings nobody here looks at.
      class Open
        def method_missing(name, *args) = name.end_with?("=") ? args.first : nil
        def respond_to_missing?(*) = true
      end

      private

      def bring(mod, filters, how)
        @included << Included.new(mod, Metadata.filter(filters), how)
        RSpec.world.groups.each { |group| group.bring_in(@included.last) }
      end
    end

    # What is known of a group or an example, and whether a filter means it.
    module Metadata
      # Symbols stand for true.
      def self.filter(args)
        hash = args.last.is_a?(Hash) ? args.last : {}
        args.grep(Symbol).to_h { |name| [name, true] }.merge(hash)
      end
      # What the configuration adds to whatever it means.
      def self.derive(metadata)
        RSpec.configuration.derived.each { |filter, work| work.call(metadata) if matches?(filter, metadata) }
      end
      def self.matches?(filter, metadata)
        filter.empty? || filter.all? { |key, value| matches_one?(key, value, metadata) }
      end
      def self.matches_any?(filter, metadata) = filter.any? { |key, value| matches_one?(key, value, metadata) }
      def self.matches_one?(key, value, metadata)
        return true if key == :full_description && metadata[:full_description].match?(value)
        return locations?(value, metadata) if key == :locations
        found = metadata[key]
        case value
        when Hash then found.is_a?(Hash) && value.all? { |name, one| matches_one?(name, one, found) }
        when Regexp then found.to_s.match?(value)
        when Proc then !!value.call(*[found, metadata].first(value.arity.abs))
        when true, false then value ? !!found : !found
        when Array then value.any? { |one| matches_one?(key, one, metadata) }
        else found.to_s == value.to_s || Array(found).include?(value)
        end
      end
      # Lines of a file: an example is meant by its own line or by one of a group around it.
      def self.locations?(wanted, metadata)
        lines = wanted[File.expand_path(metadata[:file_path])] or return true
        lines.any? { |line| metadata[:fx_lines].include?(line) }
      end
    end

    # Hooks by position and scope.
    class Hooks
      Hook = Struct.new(:filter, :block)
      def initialize = @all = Hash.new { |hash, key| hash[key] = [] }
      def add(position, args, block, first: false)
        scope = args.first.is_a?(Symbol) && SCOPES.key?(args.first) ? SCOPES[args.shift] : :each
        hook = Hook.new(Metadata.filter(args), block)
        list = @all[[position, scope]]
        first ? list.unshift(hook) : list.push(hook)
      end
      SCOPES = { each: :each, example: :each, all: :all, context: :all, suite: :suite }.freeze
      def of(position, scope, metadata)
        list = @all.fetch([position, scope], nil) or return []
        list.select { |hook| Metadata.matches?(hook.filter, metadata) }
      end
    end
  end
end
