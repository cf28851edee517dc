# What all matchers have, and matchers that specs define.
module RSpec
  module Matchers
    # Matchers that combine: `and` and `or`.
    module Composable
      def and(other) = Compound.new(self, other, :and)
      def or(other) = Compound.new(self, other, :or)
      alias & and
      alias | or
      def ===(value) = matches?(value)
      def values_match?(expected, actual) = Matchers.values_match?(expected, actual)
    end

    class Base
      include Composable
      attr_reader :expected, :actual
      def initialize(*expected) = @expected = expected.size > 1 ? expected : expected.first
      def matches?(actual)
        @actual = actual
        match
      end
      def show(value) = Matchers.show(value)
      def name = Matchers.split(self.class.name.split("::").last)
      def description = @expected.nil? ? name : "#{name} #{show(@expected)}"
      def failure_message = "expected #{show(@actual)} to #{description}"
      def failure_message_when_negated = "expected #{show(@actual)} not to #{description}"
      def diffable? = false
      def supports_block_expectations? = false
      def supports_value_expectations? = true
      # A value with blanks around the arrows of hashes, as some matchers have them.
      def spaced(value) = show(value).gsub(/(\S)=>(\S)/, '\1 => \2')
      # Items of a list for people: "a", "b", and "c".
      def listed(items) = joined(items.map { |one| one.is_a?(Hash) ? spaced(one) : show(one) })
      def joined(words)
        case words.size
        when 0, 1 then words.first.to_s
        when 2 then words.join(" and ")
        else "#{words[0..-2].join(", ")}, and #{words.last}"
        end
      end
    end

    class Compound < Base
      def initialize(first, second, how) = (@first, @second, @how = first, second, how)
      def matches?(actual)
        @actual = actual
        @one = @first.matches?(actual)
        return (@one && (@other = @second.matches?(actual))) if @how == :and
        @one || (@other = @second.matches?(actual))
      end
      def description = "#{@first.description} #{@how} #{@second.description}"
      def failure_message
        return @first.failure_message if @how == :and && !@one
        return @second.failure_message if @how == :and
        "#{@first.failure_message}\n\n...or:\n\n#{@second.failure_message}"
      end
      def supports_block_expectations?
        [@first, @second].all? do |one|
          one.respond_to?(:supports_block_expectations?) && one.supports_block_expectations?
        end
      end
      def does_not_match?(_)
        raise NotImplementedError, "`expect(...).not_to matcher.#{@how} matcher` is not supported, since it " \
          "creates a bit of an ambiguity. Instead, define negated versions of whatever matchers you wish to negate " \
          "with `RSpec::Matchers.define_negated_matcher` and use `expect(...).to matcher.#{@how} matcher`."
      end
    end

    # RSpec::Matchers.define(:name) { |expected| match { |actual| … } }
    class Defined < Base
      def initialize(name, declaration, context, args, block_arg = nil)
        @name, @context, @args, @block_arg = name, context, args, block_arg
        @expected = args.size == 1 ? args.first : args.empty? ? nil : args
        singleton_class.extend(Macros)
        singleton_class.class_exec(*args, &declaration)
      end
      attr_reader :block_arg
      def expected_as_array = @args
      def matches?(actual)
        @actual = actual
        __match(actual)
      end
      def description
        tail = @args.map { |one| show(one) }.join(", ")
        "#{Matchers.split(@name)}#{tail.empty? ? "" : " #{tail}"}"
      end
      def name = @name
      def method_missing(name, ...) = @context.respond_to?(name, true) ? @context.__send__(name, ...) : super
      def respond_to_missing?(name, priv = false) = @context.respond_to?(name, priv)

      # What a declaration says; each becomes a method of the one matcher.
      module Macros
        def match(options = {}, &block)
          define_method(:__match) do |actual|
            instance_exec(actual, &block)
          rescue RSpec::Expectations::ExpectationNotMetError
            raise if options[:notify_expectation_failures]
            false
          end
        end
        def match_when_negated(_ = {}, &block)
          define_method(:does_not_match?) do |actual|
            @actual = actual
            instance_exec(actual, &block)
          end
        end
        def match_unless_raises(error = StandardError, &block)
          define_method(:__match) do |actual|
            instance_exec(actual, &block)
            true
          rescue error
            false
          end
        end
        def failure_message(&block) = define_method(:failure_message) { instance_exec(actual, &block) }
        def failure_message_when_negated(&block)
          define_method(:failure_message_when_negated) { instance_exec(actual, &block) }
        end
        def description(&block) = define_method(:description) { instance_exec(actual, &block) }
        alias failure_message_for_should failure_message
        alias failure_message_for_should_not failure_message_when_negated
        def diffable = define_method(:diffable?) { true }
        def supports_block_expectations = define_method(:supports_block_expectations?) { true }
        def chain(name, *attributes, &block)
          define_method(name) do |*args, &given|
            attributes.each_with_index { |one, at| instance_variable_set("@#{one}", args[at]) }
            instance_exec(*args, *[given].compact, &block) if block
            self
          end
          attributes.each { |one| define_method(one) { instance_variable_get("@#{one}") } }
        end
        def define_method(...) = super
      end
    end

    # A matcher under another description, or the other way round.
    class Renamed < Base
      def initialize(base, &words) = (@base, @words = base, words)
      def description = @words.call(@base.description)
      def failure_message = @base.failure_message.sub(@base.description, description)
      def method_missing(name, ...)
        answer = @base.__send__(name, ...)
        answer.equal?(@base) ? self : answer
      end
      def respond_to_missing?(name, priv = false) = @base.respond_to?(name, priv)
      def matches?(actual, &block) = @base.matches?(actual, &block)
      def failure_message_when_negated = @base.failure_message_when_negated
      def supports_block_expectations? = @base.supports_block_expectations?
      def expected = @base.expected
      def actual = @base.actual
      def diffable? = @base.diffable?
    end
    class Negated < Renamed
      def matches?(actual, &block)
        Matchers.refuses?(@base, actual, &block)
      end
      def does_not_match?(actual, &block) = @base.matches?(actual, &block)
      def failure_message = @base.failure_message_when_negated
      def failure_message_when_negated = @base.failure_message
      def diffable? = false
    end

    module DSL
      def define(name, &declaration)
        Matchers.define_method(name) { |*args, &block| Defined.new(name, declaration, self, args, block) }
      end
      alias matcher define
      def alias_matcher(new_name, old_name, options = {}, &words)
        words ||= ->(text) { text.gsub(Matchers.split(old_name), Matchers.split(new_name)) }
        Matchers.define_method(new_name) { |*args, &block| Renamed.new(__send__(old_name, *args, &block), &words) }
      end
      def define_negated_matcher(new_name, old_name, &words)
        words ||= ->(text) { text.gsub(Matchers.split(old_name), Matchers.split(new_name)) }
        Matchers.define_method(new_name) { |*args, &block| Negated.new(__send__(old_name, *args, &block), &words) }
      end
    end
    extend DSL
  end
end
