# Mocha's words for stubs and expectations, over our doubles: known once a project asks for them.
module RSpec
  module Mocks
    module Mocha
      # What `expects` and `stubs` give back.
      class Expectation
        def initialize(message) = @message = message
        def with(*args, **named, &block)
          block ? @message.with_rule(block) : @message.with(*args, **named)
          self
        end
        def returns(*values) = tap { @values = (@values || []) + values; give }
        def raises(error = RuntimeError, text = nil)
          text ? @message.and_raise(error, text) : @message.and_raise(error)
          self
        end
        def throws(*tag) = tap { @message.and_throw(*tag) }
        def yields(*args) = tap { @message.and_yield(*args) }
        def multiple_yields(*all) = tap { all.each { |args| @message.and_yield(*args) } }
        def once = tap { @message.exactly(1) }
        def twice = tap { @message.exactly(2) }
        def never = tap { @message.exactly(0) }
        def times(count)
          return tap { @message.exactly(count) } unless count.is_a?(Range)
          tap { @message.between(count.min, count.max) }
        end
        def at_least(count) = tap { @message.at_least(count) }
        def at_least_once = at_least(1)
        def at_most(count) = tap { @message.at_most(count) }
        def at_most_once = at_most(1)
        def in_sequence(*) = self
        def when(*) = self
        def then(*) = self

        private

        # The last value stays.
        def give
          left = @values.dup
          @message.implementation = ->(*) { left.size > 1 ? left.shift : left.first }
        end
      end

      # For every object.
      module Stubs
        def expects(names) = Mocha.install(:expect, self, names)
        def stubs(names) = Mocha.install(:allow, self, names)
        def unstub(*) = nil
      end
      module ClassStubs
        def any_instance = AnyInstanceOf.new(self)
      end
      class AnyInstanceOf
        def initialize(owner) = @owner = owner
        def expects(names) = Mocha.install(:expect_any, @owner, names)
        def stubs(names) = Mocha.install(:allow_any, @owner, names)
      end

      def self.install(how, target, names)
        pairs = names.is_a?(Hash) ? names : { names => NOTHING }
        message = Expected.new(pairs).install(how, target, nil)
        message.implementation = ->(*) {} if names.is_a?(Symbol) || names.is_a?(String)
        Expectation.new(message)
      end
      def self.take_over
        return if @on
        @on = true
        ::Object.include(Stubs)
        ::Module.include(ClassStubs)
        Double.include(Stubs)
        ExampleMethods.include(Words)
      end

      # In examples.
      module Words
        def mock(name = nil, values = {})
          name, values = nil, name if name.is_a?(Hash)
          made = Double.make([name], nil)
          values.each { |message, value| made.expects(message).returns(value) }
          made
        end
        def stub(name = nil, values = {})
          name, values = nil, name if name.is_a?(Hash)
          Double.make([name, values], nil)
        end
        def stub_everything(*args) = stub(*args).as_null_object
        def sequence(name) = name
        def has_entry(*pair) = has_entries(pair.size == 2 ? { pair[0] => pair[1] } : pair.first)
        def has_entries(pairs) = hash_including(pairs)
        def has_key(key) = hash_including(key)
        def regexp_matches(rule) = Argument.new("regexp_matches(#{rule.inspect})") { |value| rule.match?(value.to_s) }
        def includes(*items) = Argument.new("includes") { |value| items.all? { |one| value.include?(one) } }
        def is_a(owner) = kind_of(owner)
        def responds_with(name, value) = Argument.new("responds_with") { |one| one.public_send(name) == value }
        def any_parameters = any_args
        def equals(value) = value
        def Not(rule) = Argument.new("Not") { |value| !(rule === value) }
      end
    end
  end
end
