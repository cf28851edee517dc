# expect(x).to matcher, and what a failure says.
module RSpec
  module Expectations
    def self.fail_with(message, expected = nil, actual = nil)
      error = ExpectationNotMetError.new(with_diff(message, expected, actual))
      raise error unless (collected = Thread.current[:rspec_aggregated])
      begin
        raise error
      rescue ExpectationNotMetError => e
        collected << e
      end
      nil
    end

    # Texts of several lines and structures get a comparison line by line.
    def self.with_diff(message, expected, actual)
      return message if expected.nil? && actual.nil?
      return message unless Diff.worth?(expected, actual)
      strings = expected.is_a?(String) && actual.is_a?(String)
      one, other = [actual, expected].map { |value| Diff.text(value, strings) }
      "#{message}\nDiff:#{Diff.between(one, other)}"
    end

    def self.configuration = RSpec.configuration.expectation_settings

    class Target
      def initialize(value, block) = (@value, @block = value, block)
      attr_reader :value
      def target = @block || @value
      def to(matcher = nil, message = nil, &block)
        return Mocks.take(:expect, @value, matcher, block) if matcher.is_a?(Mocks::Expected)
        unless matcher
          raise ArgumentError,
            "The expect syntax does not support operator matchers, so you must pass a matcher to `#to`."
        end
        needs_block!(matcher)
        Handler.positive(target_of(matcher), matcher, message, &block)
      end
      def not_to(matcher = nil, message = nil, &block)
        return Mocks.take(:expect_not, @value, matcher, block) if matcher.is_a?(Mocks::Expected)
        needs_block!(matcher)
        Handler.negative(target_of(matcher), matcher, message, &block)
      end
      alias to_not not_to

      private

      def target_of(_matcher) = @block || @value
      def needs_block!(matcher)
        return if @block.nil? || !matcher.respond_to?(:supports_block_expectations?)
        return if matcher.supports_block_expectations?
        Expectations.fail_with("You must pass an argument rather than a block to `expect` to use the provided " \
          "matcher (#{Matchers.describe(matcher)}), or the matcher must implement " \
          "`supports_block_expectations?`.")
      end
    end

    module Handler
      def self.positive(actual, matcher, message = nil, &block)
        good = matcher.matches?(actual, &block)
        # A matcher that calls a block may have met others meanwhile.
        Matchers.note(:should, matcher)
        return true if good
        failed(message, matcher) do
          matcher.respond_to?(:failure_message) ? matcher.failure_message : matcher.failure_message_for_should
        end
      end
      def self.negative(actual, matcher, message = nil, &block)
        good = Matchers.refuses?(matcher, actual, &block)
        Matchers.note(:should_not, matcher)
        return false if good
        failed(message, matcher, false) do
          matcher.respond_to?(:failure_message_when_negated) ? matcher.failure_message_when_negated :
            matcher.failure_message_for_should_not
        end
      end
      def self.failed(message, matcher, diff = true)
        text = message ? (message.respond_to?(:call) ? message.call : message).to_s : yield
        if diff && matcher.respond_to?(:diffable?) && matcher.diffable?
          Expectations.fail_with(text, matcher.expected, matcher.actual)
        else
          Expectations.fail_with(text)
        end
      end
    end

    # Differences of two texts, line by line.
    module Diff
      def self.text(value, strings)
        case value
        when String then strings ? value : value.inspect
        when Hash then value.map { |key, one| "#{Matchers.show(key)} => #{Matchers.show(one)}," }.sort.join("\n")
        when Array
          line = Matchers.show(value)
          line.size <= 79 ? line : "[#{value.map { |one| Matchers.show(one) }.join(",\n ")}]"
        else Matchers.show(value)
        end
      end
      def self.worth?(expected, actual)
        return false if expected.nil? || actual.nil?
        parts = [expected, actual].flatten
        return parts.any? { |one| one.include?("\n") } if parts.all?(String)
        parts.none? { |one| one.is_a?(Numeric) || one.is_a?(Proc) }
      end
      def self.between(actual, expected)
        old, new = expected.split("\n"), actual.split("\n")
        table = lengths(old, new)
        lines, i, j = [], 0, 0
        while i < old.size || j < new.size
          if i < old.size && j < new.size && old[i] == new[j]
            lines << " #{old[i]}"
            i, j = i + 1, j + 1
          elsif j < new.size && (i == old.size || table[i][j + 1] > table[i + 1][j])
            lines << "+#{new[j]}"
            j += 1
          else
            lines << "-#{old[i]}"
            i += 1
          end
        end
        sizes = [old, new].map { |side| side.size == 1 ? "1" : "1,#{side.size}" }
        "\n@@ -#{sizes[0]} +#{sizes[1]} @@\n" + lines.join("\n") + "\n"
      end
      def self.lengths(old, new)
        table = Array.new(old.size + 1) { Array.new(new.size + 1, 0) }
        (old.size - 1).downto(0) do |i|
          (new.size - 1).downto(0) do |j|
            table[i][j] = old[i] == new[j] ? table[i + 1][j + 1] + 1 : [table[i + 1][j], table[i][j + 1]].max
          end
        end
        table
      end
    end
  end

  # The text of a short block, for descriptions.
  module Snippet
    def self.of(block, name)
      path, line = block.source_location
      return nil unless path && File.file?(path)
      File.readlines(path)[line - 1].to_s[/\b#{name}\s*(?:\{|do)\s*(?:\|[^|]*\|)?\s*([^{}]*?)\s*\}/, 1]
    end
  end

  module Matchers
    # What the last matcher of an example says, for examples without a name.
    def self.note(how, matcher) = @last = [how, matcher]
    def self.clear_generated_description = @last = nil
    def self.generated_description
      return nil unless @last
      how, matcher = @last
      words = describe(matcher)
      "#{how == :should ? "is expected to" : "is expected not to"} #{words}"
    end
    def self.describe(matcher)
      return matcher.description if matcher.respond_to?(:description)
      split(matcher.class.name.to_s.split("::").last.to_s)
    end
    def self.split(name) = name.to_s.gsub(/([A-Z])/) { " #{$1.downcase}" }.tr("_", " ").strip.squeeze(" ")

    # A value as messages show it.
    def self.show(value)
      case value
      when Hash then value.empty? ? "{}" : "{#{value.map { |key, one| "#{show(key)}=>#{show(one)}" }.join(", ")}}"
      when Array then "[#{value.map { |one| show(one) }.join(", ")}]"
      when Time then value.strftime("%Y-%m-%d %H:%M:%S.%N %z")
      else matcher?(value) && value.respond_to?(:description) ? "(#{value.description})" : value.inspect
      end
    end
    def self.matcher?(value)
      return false if value.is_a?(Module) || value.is_a?(BasicObject) && !value.respond_to?(:matches?)
      value.respond_to?(:matches?) &&
        (value.respond_to?(:failure_message) || value.respond_to?(:failure_message_for_should))
    end
    # Whether a matcher holds the other way round.
    def self.refuses?(matcher, actual, &block)
      return matcher.does_not_match?(actual, &block) if matcher.respond_to?(:does_not_match?)
      !matcher.matches?(actual, &block)
    end
    # Whether a value is what is expected of it, where the expected part may hold matchers.
    def self.values_match?(expected, actual)
      case expected
      when Hash
        return actual.is_a?(Hash) && actual.size == expected.size &&
            expected.all? { |key, one| actual.key?(key) && values_match?(one, actual[key]) }
      when Array
        return values_match_lists?(expected, actual) if actual.is_a?(Array)
      end
      return true if expected == actual
      return expected.matches?(actual) if matcher?(expected)
      begin
        expected === actual
      rescue ArgumentError
        false
      end
    end
    def self.values_match_lists?(expected, actual)
      expected.size == actual.size && expected.zip(actual).all? { |one, other| values_match?(one, other) }
    end

    def expect(*value, &block)
      raise ArgumentError, "You must pass either an argument or a block to `expect`." if value.empty? && block.nil?
      Expectations::Target.new(value.first, block)
    end
    def values_match?(expected, actual) = Matchers.values_match?(expected, actual)
    def aggregate_failures(_label = nil, _metadata = {})
      return yield if Thread.current[:rspec_aggregated]
      collected = Thread.current[:rspec_aggregated] = []
      begin
        yield
      ensure
        Thread.current[:rspec_aggregated] = nil
      end
      return if collected.empty?
      raise collected.first if collected.size == 1
      raise Expectations::MultipleExpectationsNotMetError.new(collected)
    end
  end
end
