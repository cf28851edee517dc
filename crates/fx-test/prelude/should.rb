# The old way to write expectations: `value.should matcher`, `value.should == other`.
module RSpec
  module Matchers
    # `x.should == y`: an operator in the place of a matcher.
    class Operator
      OPERATORS = %i[== === eql? equal? =~ > >= < <=].freeze
      instance_methods.each { |name| undef_method(name) if %i[== === =~ eql? equal?].include?(name) }
      def initialize(actual, wanted) = (@actual, @wanted = actual, wanted)
      OPERATORS.each do |name|
        define_method(name) { |expected| __judge(name, expected) }
      end
      def description = "#{@operator} #{Matchers.show(@expected)}"

      private

      def __judge(operator, expected)
        @operator, @expected = operator, expected
        good = operator == :=~ && expected.is_a?(Array) ? __same_items?(expected) : @actual.__send__(operator, expected)
        Matchers.note(@wanted ? :should : :should_not, self)
        return good if !!good == @wanted
        shown, got = Matchers.show(expected), Matchers.show(@actual)
        blank = " " * operator.size
        Expectations.fail_with(
          if !@wanted
            "expected not: #{operator} #{shown}\n         got: #{blank} #{got}"
          elsif %i[== === =~].include?(operator)
            "expected: #{shown}\n     got: #{got} (using #{operator})"
          else
            "expected: #{operator} #{shown}\n     got: #{blank} #{got}"
          end
        )
      end
      def __same_items?(expected)
        left = @actual.to_a.dup
        expected.all? { |one| (at = left.index(one)) && left.delete_at(at).then { true } } && left.empty?
      end
    end
  end
end

module Kernel
  def should(matcher = nil, message = nil, &block)
    return RSpec::Matchers::Operator.new(self, true) if matcher.nil?
    RSpec::Expectations::Handler.positive(self, matcher, message, &block)
  end
  def should_not(matcher = nil, message = nil, &block)
    return RSpec::Matchers::Operator.new(self, false) if matcher.nil?
    RSpec::Expectations::Handler.negative(self, matcher, message, &block)
  end
  alias must should
  alias must_not should_not
  def should_receive(name, _options = {}, &block)
    RSpec::Mocks::Expected.new({ name => RSpec::Mocks::NOTHING }, block).install(:expect, self, nil)
  end
  def stub(names, &block)
    pairs = names.is_a?(Hash) ? names : { names => RSpec::Mocks::NOTHING }
    RSpec::Mocks::Expected.new(pairs, block).install(:allow, self, nil)
  end
  def should_not_receive(name, &block)
    RSpec::Mocks::Expected.new({ name => RSpec::Mocks::NOTHING }, block).install(:expect_not, self, nil)
  end
end
