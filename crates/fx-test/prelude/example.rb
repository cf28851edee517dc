# One example: its body between its hooks, and how it ended.
module RSpec
  module Core
    class Example
      class Skipped < Exception; end
      Result = Struct.new(:status, :exception, :run_time, :started_at, :finished_at, :pending_message,
        :pending_fixed) do
        def example_skipped? = status == :pending && !pending_fixed && exception.nil?
      end

      # What tools do before and after each example.
      AROUND = []
      attr_reader :group, :metadata, :block, :result, :exception
      attr_accessor :pending_reason
      alias example_group group
      alias execution_result result

      def initialize(group, args, block, extra, line)
        @group, @block, @number = group, block, group.next_number
        args = args.dup
        given = args.last.is_a?(Hash) ? args.pop : {}
        flags = []
        flags.unshift(args.pop) while args.length > 1 && args.last.is_a?(Symbol)
        @metadata = group.metadata.reject { |key, _| %i[fx_lines].include?(key) }
          .merge(extra).merge(flags.to_h { |flag| [flag, true] }).merge(given)
        @metadata[:skip] = "Not yet implemented" if block.nil? && !@metadata[:skip]
        @metadata[:example_group] = group.metadata
        @metadata[:description_args] = args
        @metadata[:description] = args.first.to_s
        @metadata[:full_description] = Metadata.join(group.metadata[:full_description], args.first ? [args.first] : [])
        @metadata[:file_path], @metadata[:line_number] = line
        @metadata[:location] = line.join(":")
        @metadata[:fx_lines] = [line.last, *group.metadata[:fx_lines]]
        @metadata[:block] = block
        top = group.parent_groups.last.metadata
        @metadata[:fx_top] = [top[:location], top[:description]]
        Metadata.derive(@metadata)
        @result = Result.new
      end

      def description = metadata[:description].empty? ? (@generated || location_text) : metadata[:description]
      def full_description
        return metadata[:full_description] unless metadata[:description].empty?
        @generated ? Metadata.join(group.metadata[:full_description], [@generated]) :
          "#{group.metadata[:full_description]} "
      end
      def location_text = "example at #{metadata[:location]}"
      def location = metadata[:location]
      def file_path = metadata[:file_path]
      def id = @id ||= "#{group.parent_groups.last.file_path}[#{number_path.join(":")}]"
      def pending? = !!@pending_reason
      def skipped? = !!metadata[:skip]
      def described_class = metadata[:described_class]
      def inspect = "#<RSpec::Core::Example #{full_description.inspect}>"
      alias inspect_output full_description
      def set_exception(error) = @exception ||= error

      def run(instance, reporter)
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        @result.started_at = Time.now
        @exception = nil
        RSpec.current_example = self
        Matchers.clear_generated_description
        reporter.example_started(self)
        skip = metadata[:skip]
        if skip
          @skipped = skip == true ? "No reason given" : skip.to_s
        else
          wanted = metadata[:pending]
          @pending_reason = wanted == true ? "No reason given" : wanted.to_s if wanted
          work(instance)
        end
        # What the matcher says of itself names an example without a name.
        @generated = Matchers.generated_description if metadata[:description].empty?
        finish(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, reporter)
        @result.status != :failed
      ensure
        RSpec.current_example = nil
      end

      # Ends an example that a hook of its group kept from running.
      def fail_with(error, reporter)
        reporter.example_started(self)
        @exception = error
        finish(0.0, reporter)
        false
      end

      def skip_with(reason, reporter)
        reporter.example_started(self)
        @skipped = reason
        finish(0.0, reporter)
      end

      # An example as around hooks get it: to be run, and as a block.
      class Procsy
        def initialize(example, &work) = (@example, @work = example, work)
        attr_reader :example
        def run = @work.call
        alias call run
        def to_proc = method(:run).to_proc
        def executed? = true
        def method_missing(name, ...) = @example.public_send(name, ...)
        def respond_to_missing?(name, priv = false) = @example.respond_to?(name, priv)
      end

      private

      def work(instance)
        groups = group.parent_groups
        arounds = RSpec.configuration.hooks.of(:around, :each, metadata) +
          groups.reverse.flat_map { |one| one.hooks.of(:around, :each, metadata) }
        inner = -> { between_hooks(instance, groups) }
        arounds.reverse_each do |hook|
          following = inner
          inner = -> { caught { instance.instance_exec(Procsy.new(self, &following), &hook.block) } }
        end
        inner.call
      end

      def between_hooks(instance, groups)
        AROUND.each { |one| one.enter(metadata) }
        caught do
          befores = [RSpec.configuration, *groups.reverse].flat_map { |one| one.hooks.of(:before, :each, metadata) }
          befores.each { |hook| instance.instance_exec(self, &hook.block) }
          instance.instance_exec(self, &block)
          Mocks.verify
        end
      ensure
        groups.each { |one| one.hooks.of(:after, :each, metadata).each { |hook| after(instance, hook) } }
        RSpec.configuration.hooks.of(:after, :each, metadata).each { |hook| after(instance, hook) }
        Mocks.teardown
        AROUND.each(&:forget)
      end

      def after(instance, hook) = caught { instance.instance_exec(self, &hook.block) }

      def caught
        yield
      rescue Skipped => e
        @skipped = e.message
      rescue NoMemoryError, SignalException, Interrupt, SystemExit
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException
        @exception = @exception ? both(@exception, e) : e
      end

      def both(first, second)
        before = first.is_a?(MultipleExceptionError) ? first.all_exceptions : [first]
        MultipleExceptionError.new([*before, second])
      end

      def finish(time, reporter)
        @result.run_time, @result.finished_at = time, Time.now
        if @skipped
          @result.status, @result.pending_message = :pending, @skipped
          reporter.example_pending(self)
        elsif @pending_reason
          finish_pending(reporter)
        elsif @exception
          @result.status, @result.exception = :failed, @exception
          reporter.example_failed(self)
        else
          @result.status = :passed
          reporter.example_passed(self)
        end
        reporter.example_finished(self)
      end

      # An example that is expected to fail, and one that does not any more.
      def finish_pending(reporter)
        @result.pending_message = @pending_reason
        if @exception
          @result.status, @result.exception = :pending, @exception
          return reporter.example_pending(self)
        end
        @result.status, @result.pending_fixed = :failed, true
        text = "Expected example to fail since it is pending, but it passed."
        @exception = @result.exception = Pending::PendingExampleFixedError.new(text)
        reporter.example_failed(self)
      end

      def number_path = [*group.parent_groups.reverse.map(&:number), @number]
    end

    module Pending
      class PendingExampleFixedError < StandardError; end
    end

    class MultipleExceptionError < StandardError
      attr_reader :all_exceptions
      def initialize(all)
        @all_exceptions = all
        super(all.map { |one| "#{one.class}: #{one.message}" }.join("\n\n"))
      end
    end

    # The order of a run. A random one follows from the seed and the places of examples alone, by the hash that
    # RSpec uses (Jenkins, one at a time): the same seed gives the same order there and here.
    module Ordering
      WORD = 0xFFFF_FFFF
      # Orders that a project defines have a block, or an object with `order`.
      Own = Struct.new(:block) do
        def order(items) = block.call(items)
      end
      class << self
        def random? = global.equal?(:random)
        # What orders the outermost groups: a name of ours, or something of the project's own.
        def global
          return forced.to_s.start_with?("rand") ? :random : :defined if forced
          own = registered[:global] || registered[RSpec.configuration.order.to_s.to_sym]
          own || (RSpec.configuration.order.to_s.start_with?("rand") ? :random : :defined)
        end
        attr_accessor :forced
        def own? = !global.is_a?(Symbol)
        def registered = @registered ||= {}
        def register(name, strategy, block) = registered[name.to_sym] = strategy || Own.new(block)

        # What orders the examples of a group and the groups in it.
        def for_group(group)
          wanted = group.metadata[:order] or return global
          case wanted.to_sym
          when :global then global
          when :defined, :default then :defined
          when :random, :rand then :random
          else registered[wanted.to_sym] || unknown(wanted, group)
          end
        end

        def of(items, strategy)
          case strategy
          when :defined then items
          when :random then random(items)
          else strategy.order(items)
          end
        end

        def random(items)
          seed = RSpec.configuration.seed.to_s
          items.sort_by { |one| hash_of(seed + one.id) }
        end

        private

        def unknown(name, group)
          warn("WARNING: Ignoring unknown ordering specified using `:order => #{name.inspect}` metadata.\n" \
               "         Falling back to configured global ordering.\n" \
               "         Unrecognized ordering specified at: #{group.metadata[:location]}")
          global
        end
      end
      def self.hash_of(text)
        hash = 0
        text.each_byte do |byte|
          hash = (hash + byte) & WORD
          hash = (hash + (hash << 10)) & WORD
          hash ^= hash >> 6
        end
        hash = (hash + (hash << 3)) & WORD
        hash ^= hash >> 11
        (hash + (hash << 15)) & WORD
      end
    end

    # Runs a group: its examples, then the groups in it, between hooks that run once.
    class GroupRun
      def initialize(reporter, chosen)
        @reporter, @chosen = reporter, chosen
      end

      def run(group)
        examples = Ordering.of(group.examples.select { |one| @chosen.include?(one) }, Ordering.for_group(group))
        return true if group.all_examples.none? { |one| @chosen.include?(one) }
        return false if RSpec.world.wants_to_quit
        @reporter.group_started(group)
        good = once(group) { run_within(group, examples) }
        @reporter.group_finished(group)
        good
      end

      private

      def run_within(group, examples)
        good = examples.map do |example|
          next false if RSpec.world.wants_to_quit
          instance = group.new(example)
          copy_state(group, instance)
          passed = example.run(instance, @reporter)
          quit_if_enough unless passed
          passed
        end
        good.all? & Ordering.of(group.children, Ordering.for_group(group)).map { |child| run(child) }.all?
      end

      def quit_if_enough
        most = RSpec.configuration.fail_fast
        RSpec.world.wants_to_quit = true if most && @reporter.failed.size >= (most == true ? 1 : most)
      end

      # What hooks of the whole group set, every example sees.
      def copy_state(group, instance)
        state = {}
        group.parent_groups.reverse_each { |one| state.merge!(states[one]) if states[one] }
        state.each { |name, value| instance.instance_variable_set(name, value) }
      end
      def states = @states ||= {}

      def once(group)
        metadata = group.metadata
        outer = group.top_level? ? RSpec.configuration.hooks.of(:before, :all, metadata) : []
        befores = outer + group.hooks.of(:before, :all, metadata)
        afters = group.hooks.of(:after, :all, metadata) +
          (group.top_level? ? RSpec.configuration.hooks.of(:after, :all, metadata) : [])
        return yield if befores.empty? && afters.empty?
        instance = group.new
        copy_state(group, instance)
        known = instance.instance_variables
        begin
          befores.each { |hook| instance.instance_exec(&hook.block) }
        rescue Example::Skipped => e
          group.all_examples.each { |one| one.skip_with(e.message, @reporter) if @chosen.include?(one) }
          return true
        rescue StandardError, RSpec::Expectations::ExpectationNotMetError, ScriptError => e
          group.all_examples.each { |one| one.fail_with(e, @reporter) if @chosen.include?(one) }
          return false
        end
        names = instance.instance_variables - known - %i[@__memo @__example]
        states[group] = names.to_h { |name| [name, instance.instance_variable_get(name)] }
        good = yield
        afters.each { |hook| instance.instance_exec(&hook.block) }
        good
      end
    end
  end
end
