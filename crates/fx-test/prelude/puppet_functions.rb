# Functions of a module, called as manifests call them.
module RSpec
  module Puppet
    # The subject of a group about a function.
    class FunctionObject
      attr_reader :name
      def initialize(group, name) = (@group, @name = group, name)
      def execute(*args, &block)
        @group.enter_compiler
        ::Puppet::Bridge.call_function(0, @name, args.map { |one| FunctionObject.given(one) }, block)
      end
      # The original hands over scope and arguments.
      def call(*args, &block)
        args = args.first if args.size == 1 && args.first.is_a?(Array)
        execute(*args, &block)
      end
      # What a function is given is frozen, all the way down.
      def self.given(value)
        case value
        when Array then value.map { |one| given(one) }.freeze
        when Hash then value.to_h { |key, one| [given(key), given(one)] }.freeze
        when String then value.frozen? ? value : value.dup.freeze
        when Sensitive then ::Puppet::Pops::Types::PSensitiveType::Sensitive.new(value.unwrap)
        else value
        end
      end
    end

    module FunctionExampleGroup
      include Support
      def test_line = ""
      def subject = find_function
      def find_function(name = test_name) = @fx_function ||= FunctionObject.new(self, name)
      def scope
        enter_compiler
        ::Puppet::Parser::Scope.new(0)
      end
      def call_function(name, *args) = FunctionObject.new(self, name.to_s).execute(*args)
      # The compiler of an otherwise empty catalog answers from now on.
      def enter_compiler
        return if @fx_entered
        @fx_entered = true
        why = FxPuppet.enter(wish_text(manifest_text), facts_text)
        raise ::Puppet::PreformattedError, why unless why.empty?
      end
      def catalogue = @catalogue ||= load_catalogue
    end

    # subject { run.with_params(1).and_return(2) }
    class Run < Matcher
      def initialize = (@args, @lambda = [], nil)
      def with_params(*args) = tap { @args = args }
      def with_lambda(&block) = tap { @lambda = block }
      def and_return(value) = tap { @returns, @value = true, value }
      def and_raise_error(error = nil, message = nil)
        is_text = error.is_a?(Regexp) || error.is_a?(String)
        @error, @message = is_text ? [nil, error] : [error, message]
        @raises = true
        self
      end
      alias and_raise_exception and_raise_error
      def matches?(function)
        function = function.call if function.is_a?(Proc)
        @name = function.name
        @actual = function.execute(*@args, &@lambda)
        return false if @raises
        !@returns || same?(@value, @actual)
      rescue StandardError, ScriptError => e
        @caught = e
        !!@raises && (@error.nil? || e.is_a?(@error)) && fits_message?(e)
      end
      def description
        args = @args.map(&:inspect).join(", ")
        text = "run #{@name || "function"}(#{args})"
        text += " and return #{@value.inspect}" if @returns
        text += " and raise an #{@error || "error"}" if @raises
        return text if @message.nil?
        text + (@message.is_a?(Regexp) ? " with the message matching #{@message.inspect}" :
          "with the message #{@message.inspect}")
      end
      def failure_message
        got = @caught ? "it raised #{@caught.class}: #{@caught.message}" : "it returned #{@actual.inspect}"
        "expected #{@name} to #{description} but #{got}"
      end
      def failure_message_when_negated = "expected #{@name} not to #{description}"

      private

      def fits_message?(error)
        return true if @message.nil?
        @message.is_a?(Regexp) ? @message.match?(error.message) : error.message == @message
      end
      def same?(expected, actual)
        case expected
        when Regexp then actual.is_a?(String) ? expected.match?(actual) : expected == actual
        when Proc then !!expected.call(actual)
        when Sensitive then actual.respond_to?(:unwrap) && actual.unwrap == expected.unwrap
        else RSpec::Matchers.values_match?(expected, actual) || Support.stringified(expected, false) == actual
        end
      end
    end
  end
end
