# Matchers about values.
module RSpec
  module Matchers
    class Eq < Base
      def match = @actual == @expected
      def description = "eq #{show(@expected)}"
      def failure_message = "\nexpected: #{show(@expected)}\n     got: #{show(@actual)}\n\n(compared using ==)\n"
      def failure_message_when_negated
        "\nexpected: value != #{show(@expected)}\n     got: #{show(@actual)}\n\n(compared using ==)\n"
      end
      def diffable? = true
    end
    class Eql < Base
      def match = @actual.eql?(@expected)
      def description = "eql #{show(@expected)}"
      def failure_message = "\nexpected: #{show(@expected)}\n     got: #{show(@actual)}\n\n(compared using eql?)\n"
      def failure_message_when_negated
        "\nexpected: value != #{show(@expected)}\n     got: #{show(@actual)}\n\n(compared using eql?)\n"
      end
      def diffable? = true
    end
    class Equal < Base
      def match = @actual.equal?(@expected)
      def description = "equal #{show(@expected)}"
      def failure_message
        return "\nexpected #{show(@expected)}\n     got #{show(@actual)}\n" if [true, false, nil].include?(@expected)
        "\nexpected #{id(@expected)}\n     got #{id(@actual)}\n\n" \
          "Compared using equal?, which compares object identity,\n" \
          "but expected and actual are not the same object. Use\n" \
          "`expect(actual).to eq(expected)` if you don't care about\n" \
          "object identity in this example.\n\n"
      end
      def failure_message_when_negated
        "\nexpected not #{id(@actual)}\n         got #{id(@expected)}\n\n" \
          "Compared using equal?, which compares object identity.\n\n"
      end
      def id(value) = "#<#{value.class}:#{value.object_id}> => #{show(value)}"
    end
    class BeTruthy < Base
      def initialize = nil
      def match = !!@actual
      def description = "be truthy"
      def failure_message = "expected: truthy value\n     got: #{show(@actual)}"
      def failure_message_when_negated = "expected: falsey value\n     got: #{show(@actual)}"
    end
    class BeFalsey < Base
      def initialize = nil
      def match = !@actual
      def description = "be falsey"
      def failure_message = "expected: falsey value\n     got: #{show(@actual)}"
      def failure_message_when_negated = "expected: truthy value\n     got: #{show(@actual)}"
    end
    class BeNil < Base
      def initialize = nil
      def match = @actual.nil?
      def description = "be nil"
      def failure_message = "expected: nil\n     got: #{show(@actual)}"
      def failure_message_when_negated = "expected: not nil\n     got: nil"
    end
    # `be` by itself, and `be > 3`.
    class Be < Base
      def initialize = nil
      def match = !!@actual
      def description = "be"
      def failure_message = "expected #{show(@actual)} to evaluate to true"
      def failure_message_when_negated = "expected #{show(@actual)} to evaluate to false"
      %i[== < <= >= > === =~].each { |operator| define_method(operator) { |value| BeCompared.new(value, operator) } }
    end
    class BeCompared < Base
      def initialize(value, operator) = (@expected, @operator = value, operator)
      def match
        @actual.__send__(@operator, @expected)
      rescue ArgumentError, NoMethodError
        false
      end
      def description = "be #{@operator} #{show(@expected)}"
      def failure_message
        "expected: #{@operator} #{show(@expected)}\n     got: #{" " * @operator.size} #{show(@actual)}"
      end
      def failure_message_when_negated = "`expect(#{show(@actual)}).not_to be #{@operator} #{show(@expected)}`"
    end
    class BeA < Base
      def match = @actual.is_a?(@expected)
      def description = "be a kind of #{@expected}"
      def failure_message = "expected #{show(@actual)} to be a kind of #{@expected}"
      def failure_message_when_negated = "expected #{show(@actual)} not to be a kind of #{@expected}"
    end
    class BeInstanceOf < Base
      def match = @actual.instance_of?(@expected)
      def description = "be an instance of #{@expected}"
    end
    class BeBetween < Base
      def initialize(low, high) = (@low, @high, @exclusive = low, high, false)
      def exclusive = tap { @exclusive = true }
      def inclusive = tap { @exclusive = false }
      def match = @exclusive ? @actual > @low && @actual < @high : @actual >= @low && @actual <= @high
      def description = "be between #{show(@low)} and #{show(@high)} (#{@exclusive ? "exclusive" : "inclusive"})"
    end
    class BeWithin < Base
      def of(value) = tap { @center = value }
      def percent_of(value) = tap { @center, @percent = value, true }
      def match
        delta = @percent ? (@expected * @center.abs) / 100.0 : @expected
        @actual.is_a?(Numeric) && (@actual - @center).abs <= delta
      end
      def description = "be within #{show(@expected)}#{"%" if @percent} of #{show(@center)}"
    end
    class Match < Base
      def match
        return Matchers.values_match?(@expected, @actual) if @expected.is_a?(Array) || @expected.is_a?(Hash)
        return @actual.match(@expected) if @actual.respond_to?(:match) && !Matchers.matcher?(@expected)
        Matchers.values_match?(@expected, @actual)
      end
      def matches?(actual) = !!super
      def description = "match #{show(@expected)}"
      def diffable? = true
    end
    class Include < Base
      def initialize(*expected) = @expected = expected
      def match = missing.empty?
      def matches?(actual)
        @actual = actual
        actual.respond_to?(:include?) && match
      end
      def does_not_match?(actual)
        @actual = actual
        return false unless actual.respond_to?(:include?)
        @expected.none? do |one|
          one.is_a?(Hash) && hash_like? ? one.any? { |key, value| pair?(key, value) } : there?(one)
        end
      end
      def expecteds = @expected
      def description = "include #{listed(@expected)}"
      def failure_message
        return "#{super}, but it does not respond to `include?`" unless @actual.respond_to?(:include?)
        "expected #{spaced(@actual)} to include #{listed(missing)}"
      end
      def failure_message_when_negated = "expected #{spaced(@actual)} not to include #{listed(@expected - missing)}"
      def diffable? = !@actual.is_a?(String) || @actual.include?("\n")
      def expected
        @expected.size == 1 && (@actual.is_a?(String) || @expected.first.is_a?(Hash)) ? @expected.first : @expected
      end

      private

      def missing
        @expected.flat_map do |one|
          next (there?(one) ? [] : [one]) unless one.is_a?(Hash) && hash_like?
          left = one.reject { |key, value| pair?(key, value) }
          left.empty? ? [] : [left]
        end
      end
      def hash_like? = @actual.is_a?(Hash) || @actual.respond_to?(:key?)
      def pair?(key, value) = hash_like? && @actual.key?(key) && Matchers.values_match?(value, @actual[key])
      def there?(one)
        return @actual.key?(one) || @actual.keys.any? { |key| Matchers.values_match?(one, key) } if @actual.is_a?(Hash)
        return @actual.include?(one) if @actual.is_a?(String) && one.is_a?(String)
        return @actual.match?(one) if @actual.is_a?(String) && one.is_a?(Regexp)
        return true if !Matchers.matcher?(one) && !one.is_a?(Regexp) && @actual.include?(one)
        @actual.respond_to?(:any?) && @actual.any? { |value| Matchers.values_match?(one, value) }
      end
    end
    # All items, in any order.
    class ContainExactly < Base
      def initialize(items) = @expected = items
      def match
        return false unless @actual.respond_to?(:to_a) || @actual.respond_to?(:to_ary)
        @extra = @actual.to_a.dup
        @missing = @expected.reject do |one|
          at = @extra.index { |value| one == value } || @extra.index { |value| Matchers.values_match?(one, value) }
          @extra.delete_at(at) if at
          at
        end
        @missing.empty? && @extra.empty?
      end
      def description = "contain exactly #{listed(@expected)}"
      def failure_message
        unless @missing
          return "expected a collection that can be converted to an array with `#to_ary` or `#to_a`, " \
            "but got #{show(@actual)}"
        end
        text = "expected collection contained:  #{show(sorted(@expected))}\n" \
          "actual collection contained:    #{show(sorted(@actual.to_a))}\n"
        text += "the missing elements were:      #{show(sorted(@missing))}\n" unless @missing.empty?
        text += "the extra elements were:        #{show(sorted(@extra))}\n" unless @extra.empty?
        text
      end
      def failure_message_when_negated = "expected #{show(@actual)} not to contain exactly #{listed(@expected)}"
      def sorted(list)
        list.sort
      rescue StandardError
        list
      end
    end
    class StartWith < Base
      def initialize(*expected) = @expected = expected
      def match
        return @actual.start_with?(*@expected) if @actual.is_a?(String)
        Matchers.values_match?(@expected, @actual.first(@expected.size))
      end
      def description = "start with #{listed(@expected)}"
    end
    class EndWith < Base
      def initialize(*expected) = @expected = expected
      def match
        return @actual.end_with?(*@expected) if @actual.is_a?(String)
        Matchers.values_match?(@expected, @actual.last(@expected.size))
      end
      def description = "end with #{listed(@expected)}"
    end
    class RespondTo < Base
      def initialize(*names) = @expected = names
      def with(count) = tap { @arity = count }
      def argument = self
      def arguments = self
      def with_keywords(*) = self
      def match = (@missing = @expected.reject { |name| @actual.respond_to?(name) && arity?(name) }).empty?
      def does_not_match?(actual) = @expected.none? { |name| (@actual = actual).respond_to?(name) }
      def arity?(name)
        return true unless @arity
        found = @actual.method(name).arity
        found == @arity || (found.negative? && @arity >= -found - 1)
      end
      def description
        "respond to #{joined(@expected.map { |name| "##{name}" })}"
      end
      def failure_message
        "expected #{show(@actual)} to respond to #{(@missing || @expected).map(&:inspect).join(", ")}"
      end
      def failure_message_when_negated
        "expected #{show(@actual)} not to respond to #{@expected.map(&:inspect).join(", ")}"
      end
    end
    class HaveAttributes < Base
      def match
        @expected.all? do |name, value|
          @actual.respond_to?(name) && Matchers.values_match?(value, @actual.__send__(name))
        end
      end
      def description = "have attributes #{spaced(@expected)}"
      def diffable? = true
      def actual = @expected.keys.to_h { |name| [name, @actual.respond_to?(name) ? @actual.__send__(name) : nil] }
      def failure_message
        missing = @expected.keys.reject { |name| @actual.respond_to?(name) }
        names = missing.map(&:inspect).join(", ")
        return "expected #{show(@actual)} to respond to #{names}" unless missing.empty?
        "expected #{show(@actual)} to #{description} but had attributes #{spaced(actual)}"
      end
    end
    class Satisfy < Base
      def initialize(words, block) = (@words, @block = words, block)
      def matches?(actual, &block)
        @actual = actual
        @block ||= block
        !!@block.call(actual)
      end
      def description
        @words || Snippet.of(@block, "satisfy").then { |text| text ? "satisfy expression `#{text}`" : "satisfy block" }
      end
    end
    class All < Base
      def match
        return false unless @actual.respond_to?(:each)
        @failures = @actual.each_with_index.reject { |one, _| @expected.clone.matches?(one) }
        @failures.empty?
      end
      def description = "all #{Matchers.describe(@expected)}"
      def failure_message
        all = @failures.map do |one, at|
          matcher = @expected.clone
          matcher.matches?(one)
          why = matcher.failure_message.lines.map { |line| "      #{line}" }.join
          "   object at index #{at} failed to match:\n#{why}"
        end
        "expected #{show(@actual)} to all #{Matchers.describe(@expected)}\n\n#{all.join("\n\n")}"
      end
    end
    class Cover < Base
      def initialize(*expected) = @expected = expected
      def match = @expected.all? { |one| @actual.cover?(one) }
      def description = "cover #{listed(@expected)}"
    end
    class Exist < Base
      def initialize(*expected) = @expected = expected
      def match = !!(@actual.respond_to?(:exist?) ? @actual.exist?(*@expected) : @actual.exists?(*@expected))
      def description = "exist"
    end
    # `be_empty`, `be_a_file`, `have_key(:a)`: a question of the value itself.
    class Predicate < Base
      def initialize(name, question, args, block) = (@name, @question, @args, @block = name, question, args, block)
      def match
        @missing = !@actual.respond_to?(@question) && !@actual.respond_to?(other)
        return false if @missing
        !!(@result = @actual.__send__(@actual.respond_to?(@question) ? @question : other, *@args, &@block))
      end
      def does_not_match?(actual) = !matches?(actual) && !@missing
      # `be_exist` asks `exists?` where there is no `exist?`.
      def other = @question.to_s.end_with?("s?") ? @question : :"#{@question.to_s.chomp("?")}s?"
      def description = "#{Matchers.split(@name)}#{@args.empty? ? "" : " #{listed(@args)}"}"
      def failure_message
        return "expected #{show(@actual)} to respond to `#{@question}`" if @missing
        "expected `#{show(@actual)}.#{@question}#{arguments}` to be truthy, got #{show(@result)}"
      end
      def failure_message_when_negated
        return "expected #{show(@actual)} to respond to `#{@question}`" if @missing
        "expected `#{show(@actual)}.#{@question}#{arguments}` to be falsey, got #{show(@result)}"
      end
      def arguments = @args.empty? ? "" : "(#{@args.map { |one| show(one) }.join(", ")})"
    end

    { eq: Eq, eql: Eql, equal: Equal, be_a: BeA, be_an: BeA, be_a_kind_of: BeA, be_kind_of: BeA, kind_of_matcher: BeA,
      be_instance_of: BeInstanceOf, be_an_instance_of: BeInstanceOf, be_between: BeBetween, be_within: BeWithin,
      match: Match, match_regex: Match, include: Include, start_with: StartWith, end_with: EndWith,
      respond_to: RespondTo,
      have_attributes: HaveAttributes, all: All, cover: Cover, exist: Exist, be_truthy: BeTruthy, be_falsey: BeFalsey,
      be_falsy: BeFalsey, be_nil: BeNil,
      a_hash_including: Include, a_string_including: Include, a_collection_including: Include, including: Include,
      a_string_matching: Match, a_string_starting_with: StartWith, a_string_ending_with: EndWith, a_kind_of: BeA,
      an_instance_of: BeInstanceOf, an_object_having_attributes: HaveAttributes, a_value_within: BeWithin,
      an_object_eq_to: Eq, an_object_responding_to: RespondTo, a_value_between: BeBetween }.each do |name, matcher|
      define_method(name) { |*args, **named| matcher.new(*args, *(named.empty? ? [] : [named])) }
    end
    def be(*value) = value.empty? ? Be.new : Equal.new(value.first)
    def contain_exactly(*items) = ContainExactly.new(items)
    def match_array(items) = ContainExactly.new(items.is_a?(Array) ? items : items.to_a)
    alias a_collection_containing_exactly contain_exactly
    def satisfy(words = nil, &block) = Satisfy.new(words, block)
    alias an_object_satisfying satisfy

    def method_missing(name, *args, **named, &block)
      question = case name
                 when /\Abe_(?:an?_)?(.+)\z/ then :"#{$1}?"
                 when /\Ahave_(.+)\z/ then :"has_#{$1}?"
                 end
      question ? Predicate.new(name, question, named.empty? ? args : [*args, named], block) : super
    end
    def respond_to_missing?(name, priv = false) = name.to_s.match?(/\A(?:be|have)_./) || super
  end
end
