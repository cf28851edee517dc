# How rspec-puppet compares what is expected of a parameter with what a catalog has.
module RSpec
  module Puppet
    class ParameterMatcher
      attr_reader :errors
      def initialize(name, expected, wanted) = (@name, @expected, @wanted, @errors = name, expected, wanted, [])

      def matches?(resource)
        actual = resource[@name]
        if @expected.is_a?(Sensitive)
          good = resource.sensitive?(@name) && check(@expected.unwrap, actual)
        else
          good = @expected.is_a?(Proc) ? check_proc(actual) : check(@expected, actual)
        end
        good = good == @wanted
        @errors << message(actual) unless good
        good
      end

      private

      def check(expected, actual)
        case expected
        when Proc then !!expected.call(actual)
        when Regexp then !!expected.match(actual.to_s)
        when Hash then check_hash(expected, actual)
        when Array then check_array(expected, actual)
        when nil, :undef then actual.nil?
        else RSpec::Matchers.matcher?(expected) ? expected.matches?(actual) : check_text(expected, actual)
        end
      end
      def check_proc(actual) = !!@expected.call(actual)
      def check_text(expected, actual)
        return false if actual.is_a?(Array) && !expected.is_a?(Array) && actual.size != 1
        actual = actual.first if actual.is_a?(Array) && actual.size == 1
        text(expected) == text(actual)
      end
      def text(value) = value.is_a?(Array) ? value.map { |one| text(one) } : value.to_s
      def check_array(expected, actual)
        return false if actual.nil?
        actual = [actual] unless actual.is_a?(Array)
        expected.size == actual.size && expected.zip(actual).all? { |one, other| check(one, other) }
      end
      def check_hash(expected, actual)
        return false unless actual.is_a?(Hash) && expected.size == actual.size
        expected.all? do |key, value|
          key = actual.key?(key) ? key : key.to_s
          actual.key?(key) && check(value, actual[key])
        end
      end
      def message(actual)
        set = @wanted ? "set to" : "not set to"
        return "#{@name} #{set} supplied string" if @name == "content" && @expected.is_a?(String)
        "#{@name} #{set} #{@expected.inspect} but it is set to #{actual.inspect}"
      end
    end
  end
end
