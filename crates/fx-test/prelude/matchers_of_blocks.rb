# Matchers about what a block does.
module RSpec
  module Matchers
    class OfBlock < Base
      def supports_block_expectations? = true
      def supports_value_expectations? = false
    end
    class RaiseError < OfBlock
      def initialize(error = nil, message = nil, block = nil)
        @block = block
        is_text = error.is_a?(String) || error.is_a?(Regexp) || Matchers.matcher?(error)
        @error, @message = is_text ? [Exception, error] : [error, message]
        @error ||= Exception
      end
      def with_message(message) = tap { @message = message }
      def matches?(block, negated = false, &given)
        @given = given || @block
        @raised = nil
        return false unless block.respond_to?(:call)
        begin
          block.call
        rescue Exception => e # rubocop:disable Lint/RescueException
          @raised = e
        end
        !@raised.nil? && (negated ? fits? : fits? && called)
      end
      def does_not_match?(block) = !matches?(block, true)
      def description = "raise #{words}"
      def failure_message = "expected #{words}#{@raised ? ", got #{raised_words}" : " but nothing was raised"}"
      def failure_message_when_negated = "expected no #{words}, got #{raised_words}"

      private

      def fits? = Matchers.values_match?(@error, @raised) && message_fits?
      def called
        @given&.call(@raised)
        true
      end
      def message_fits?
        case @message
        when nil then true
        when Regexp then @message.match?(@raised.message.to_s)
        else Matchers.values_match?(@message, @raised.message.to_s)
        end
      end
      def words
        name = @error == Exception ? "Exception" : @error.respond_to?(:description) ? @error.description : @error.to_s
        case @message
        when nil then name
        when Regexp then "#{name} with message matching #{@message.inspect}"
        else "#{name} with #{show(@message)}"
        end
      end
      def raised_words
        trace = Core::Shown.trace(@raised).map { |line| "  # #{line}" }
        "#{@raised.inspect} with backtrace:\n#{trace.join("\n")}"
      end
    end
    class ThrowSymbol < OfBlock
      def matches?(block)
        name, value = [@expected].flatten(1)
        @thrown = nil
        marker = Object.new
        if name
          got = catch(name) do
            block.call
            marker
          end
          return !got.equal?(marker) && (value.nil? || Matchers.values_match?(value, got))
        end
        block.call
        false
      rescue UncaughtThrowError => e
        @thrown = e.tag
        name.nil?
      end
      def description
        @expected ? "throw #{[@expected].flatten(1).map { |one| show(one) }.join(" with ")}" : "throw a Symbol"
      end
      def failure_message
        wanted = [@expected].flatten(1).first&.inspect || "a Symbol"
        "expected #{wanted} to be thrown, got #{@thrown ? @thrown.inspect : "nothing"}"
      end
      def failure_message_when_negated = "expected no Symbol to be thrown, got #{show(@expected)}"
    end
    class Change < OfBlock
      def initialize(object = nil, name = nil, &block) = (@object, @name, @block, @rules = object, name, block, {})
      %i[by by_at_least by_at_most from to].each { |rule| define_method(rule) { |value| tap { @rules[rule] = value } } }
      def matches?(work)
        @before = value
        work.call
        @after = value
        return @before != @after || @moved if @rules.empty?
        @rules.all? { |rule, wanted| holds?(rule, wanted) }
      end
      def does_not_match?(work)
        @before = value
        work.call
        @after = value
        (!@rules.key?(:from) || Matchers.values_match?(@rules[:from], @before)) && @before == @after
      end
      def description
        "change #{what}#{@rules.map { |rule, wanted| " #{rule.to_s.tr("_", " ")} #{show(wanted)}" }.join}"
      end
      def failure_message
        unmoved = @rules.empty? || (@rules.key?(:to) && @before == @after)
        return "expected #{what} to have changed, but is still #{show(@before)}" if unmoved
        return "expected #{what} to have initially been #{show(@rules[:from])}, but was #{show(@before)}" if
          @rules.key?(:from) && !Matchers.values_match?(@rules[:from], @before)
        to = @rules[:to]
        return "expected #{what} to have changed to #{show(to)}, but is now #{show(@after)}" if @rules.key?(:to)
        rule, wanted = @rules.first
        "expected #{what} to have changed #{rule.to_s.tr("_", " ")} #{show(wanted)}, " \
          "but was changed by #{show(@after - @before)}"
      end
      def failure_message_when_negated
        "expected #{what} not to have changed, but did change from #{show(@before)} to #{show(@after)}"
      end

      private

      def value
        found = @block ? @block.call : @object.__send__(@name)
        found.is_a?(Enumerable) || found.is_a?(String) ? found.dup : found
      end
      def what
        return "`#{@object.is_a?(Module) ? @object : @object.class}##{@name}`" unless @block
        text = Snippet.of(@block, "change")
        text ? "`#{text}`" : "result"
      end
      def holds?(rule, wanted)
        case rule
        when :by then Matchers.values_match?(wanted, @after - @before)
        when :by_at_least then @after - @before >= wanted
        when :by_at_most then @after - @before <= wanted
        when :from then Matchers.values_match?(wanted, @before)
        when :to then Matchers.values_match?(wanted, @after) && @before != @after
        end
      end
    end
    # What a block prints.
    class Output < OfBlock
      def to_stdout = tap { @stream = :stdout }
      def to_stderr = tap { @stream = :stderr }
      def to_stdout_from_any_process = to_stdout
      def to_stderr_from_any_process = to_stderr
      def matches?(block)
        require "stringio"
        stream = StringIO.new
        old = @stream == :stdout ? $stdout : $stderr
        @stream == :stdout ? $stdout = stream : $stderr = stream
        begin
          block.call
        ensure
          @stream == :stdout ? $stdout = old : $stderr = old
        end
        @actual = stream.string
        @expected.nil? ? !@actual.empty? : Matchers.values_match?(@expected, @actual)
      end
      def description = "output #{@expected ? show(@expected) : "some output"} to #{@stream}"
      def failure_message = "expected block to #{description}, but output #{@actual.empty? ? "nothing" : show(@actual)}"
      def failure_message_when_negated = "expected block to not #{description}, but output #{show(@actual)}"
      def diffable? = true
    end
    # How a block calls the one that it is given.
    class Yields < OfBlock
      def initialize(how, *args) = (@how, @args = how, args)
      def exactly(count) = tap { @count = count }
      def times = self
      def once = exactly(1)
      def twice = exactly(2)
      def thrice = exactly(3)
      def matches?(block)
        @calls = []
        probe = Probe.new(@calls)
        block.call(probe)
        case @how
        when :control then @count ? @calls.size == @count : !@calls.empty?
        when :none then @calls == [[]]
        when :with then @calls.size == 1 && (@args.empty? || Matchers.values_match?(@args, @calls.first))
        when :each then Matchers.values_match?(@args, @calls.map { |call| call.size > 1 ? call : call.first })
        end
      end
      Probe = Struct.new(:calls) do
        def to_proc
          calls = self.calls
          proc { |*args| (calls << args; nil) }
        end
      end
      WORDS = { control: "yield control", none: "yield with no args", with: "yield with args",
                each: "yield successive args" }.freeze
      def description = "#{WORDS[@how]}#{"(#{@args.map { |one| show(one) }.join(", ")})" unless @args.empty?}"
      def failure_message
        happened = @calls.empty? ? "did not yield" : "yielded with #{show(@calls)}"
        "expected given block to #{description}, but #{happened}"
      end
      def failure_message_when_negated = "expected given block not to #{description}, but did"
    end

    def raise_error(error = nil, message = nil, &block) = RaiseError.new(error, message, block)
    alias raise_exception raise_error
    def throw_symbol(*args) = ThrowSymbol.new(*args)
    def change(object = nil, name = nil, &block) = Change.new(object, name, &block)
    def output(text = nil) = Output.new(text)
    def yield_control = Yields.new(:control)
    def yield_with_no_args = Yields.new(:none)
    def yield_with_args(*args) = Yields.new(:with, *args)
    def yield_successive_args(*args) = Yields.new(:each, *args)
    alias a_block_raising raise_error
    alias a_block_changing change
  end
end
