# Doubles and messages that are allowed or expected, for the length of an example.
module RSpec
  module Mocks
    class MockExpectationError < Exception; end
    class OutsideOfExampleError < StandardError; end
    class ExpiredTestDoubleError < MockExpectationError; end

    # Both ways to write are always there.
    module Syntax
      def self.enable_expect(*) = nil
      def self.enable_should(*) = nil
      def self.disable_should(*) = nil
    end

    class << self
      def space = @space ||= Space.new
      def verify = @space&.verify
      def teardown
        space, @space = @space, nil
        space&.reset
      end
      alias setup teardown
      def configuration = RSpec.configuration.mock_settings
      def with_temporary_scope
        yield
        verify
      ensure
        teardown
      end

      # `allow(x).to receive(:y)` and its kin.
      def take(how, target, matcher, block)
        return matcher.matches_spy(how, target) if matcher.is_a?(HaveReceived)
        matcher.install(how, target, block)
      end
    end

    # What an example changed, to be put back.
    class Space
      def initialize = (@proxies, @any, @order, @constants = {}.compare_by_identity, {}, [], [])
      attr_reader :order, :constants
      def proxy(target) = @proxies[target] ||= Proxy.new(target)
      def known(target) = @proxies[target]
      def any_instance(owner) = @any[owner] ||= AnyInstance.new(owner)
      def verify = [*@proxies.values, *@any.values].each(&:verify)
      def reset
        @proxies.each_value(&:reset)
        @any.each_value(&:reset)
        @constants.reverse_each(&:call)
      end
    end

    # What `receive` describes, before it is known whom it is about.
    class Expected
      attr_reader :chain
      def initialize(names, block = nil) = (@names, @block, @chain = names, block, [])
      CHAIN = %i[with and_return and_raise and_throw and_yield and_call_original and_wrap_original and_invoke
                 once twice thrice exactly at_least at_most never times time ordered].freeze
      CHAIN.each do |name|
        define_method(name) do |*args, **named, &block|
          @chain << [name, args, named, block]
          self
        end
      end
      def install(how, target, block)
        block ||= @block
        @names.map { |name, value| install_one(how, target, name, value, block) }.last
      end
      def description = "receive #{@names.keys.map(&:inspect).join(", ")}"
      def matches?(*) = true

      private

      def install_one(how, target, name, value, block)
        space = Mocks.space
        home = how.to_s.end_with?("any") ? space.any_instance(target) : space.proxy(target)
        message = home.add(name)
        message.expect! if how.to_s.start_with?("expect")
        message.never if how.to_s.start_with?("expect_not", "allow_not")
        message.implementation = ->(*) { value } unless value == NOTHING
        @chain.each { |part, args, named, given| message.public_send(part, *args, **named, &given) }
        message.implementation = block if block
        message
      end
    end
    NOTHING = Object.new.freeze

    # `receive_message_chain(:a, :b) { … }`: each answers with a double that takes the next.
    class Chained < Expected
      def initialize(names, value, block) = (super(names, block); @value = value)
      def install(how, target, block)
        names = @names.flat_map { |one| one.to_s.split(".") }.map(&:to_sym)
        last = names.pop
        names.each do |name|
          found = Mocks.space.known(target)&.stubbed(name)
          following = found ? found.call(target, name, [], {}, nil) : Double.new("", {}, nil)
          Expected.new({ name => following }).install(:allow, target, nil) unless found
          target = following
        end
        one = Expected.new({ last => @value })
        @chain.each { |part| one.chain << part }
        one.install(how, target, block || @block)
      end
    end

    class HaveReceived < Expected
      def initialize(name, block) = super({ name => NOTHING }, block)
      # As a matcher of a spy.
      def matches?(target) = matches_spy(:expect, target)
      def matches_spy(how, target)
        name = @names.keys.first
        proxy = Double === target && target.__null? ? Mocks.space.proxy(target) : Mocks.space.known(target)
        unless proxy&.heard?(name)
          raise MockExpectationError, "#{Mocks.show(target)} expected to have received #{name}, but that object " \
            "is not a spy or method has not been stubbed."
        end
        message = Message.new(target, name)
        message.expect!
        message.never if how == :expect_not
        @chain.each { |part, args, named, given| message.public_send(part, *args, **named, &given) }
        proxy.calls.each do |called, args, named, block|
          message.count(args, named, block) if called == name && message.fits?(args, named)
        end
        message.verify
        true
      rescue MockExpectationError => e
        Expectations.fail_with(e.message)
      end
    end

    # An object in front of a message.
    def self.receiver(value) = Double === value ? value.__name.delete_prefix("#<").delete_suffix(">") : show(value)
    def self.show(value)
      return value.__name if Double === value
      value.is_a?(Module) ? "#{value} (class)" : value.inspect
    end

    # `allow(x)`, `expect_any_instance_of(C)`: who is meant.
    class Target
      def initialize(how, target) = (@how, @target = how, target)
      def to(matcher, &block) = Mocks.take(@how, @target, matcher, block)
      def not_to(matcher, &block)
        Mocks.take(:"#{@how.to_s.sub("_any", "")}_not#{"_any" if @how.to_s.end_with?("any")}", @target, matcher, block)
      end
      alias to_not not_to
    end

    module ExampleMethods
      def allow(target) = Target.new(:allow, target)
      def allow_any_instance_of(owner) = Target.new(:allow_any, owner)
      def expect_any_instance_of(owner) = Target.new(:expect_any, owner)
      def receive(name, &block) = Expected.new({ name => NOTHING }, block)
      def receive_messages(pairs) = Expected.new(pairs)
      def receive_message_chain(*names, &block)
        pairs = names.last.is_a?(Hash) ? names.pop : nil
        value = pairs ? pairs.values.first : NOTHING
        Chained.new(names + (pairs ? pairs.keys : []), value, block)
      end
      def have_received(name, &block) = HaveReceived.new(name, block)

      def double(*args) = Double.make(args, nil)
      def spy(*args) = Double.make(args, nil).as_null_object
      def instance_double(owner, *args) = Double.make([owner.to_s, *args], owner, :instance)
      def class_double(owner, *args) = Double.make([owner.to_s, *args], owner, :class)
      def object_double(object, *args) = Double.make([object.inspect, *args], nil)
      def instance_spy(owner, *args) = instance_double(owner, *args).as_null_object
      def class_spy(owner, *args) = class_double(owner, *args).as_null_object

      def stub_const(name, value, _options = {})
        *path, last = name.split("::")
        home = path.inject(Object) { |at, one| at.const_get(one) }
        had = home.const_defined?(last, false)
        old = home.const_get(last) if had
        home.__send__(:remove_const, last) if had
        home.const_set(last, value)
        Mocks.space.constants << lambda do
          home.__send__(:remove_const, last) if home.const_defined?(last, false)
          home.const_set(last, old) if had
        end
        value
      end
      def hide_const(name)
        *path, last = name.split("::")
        home = path.inject(Object) { |at, one| at.const_get(one) }
        return unless home.const_defined?(last, false)
        old = home.__send__(:remove_const, last)
        Mocks.space.constants << -> { home.const_set(last, old) }
      end

      def anything = Argument.new("anything") { true }
      def any_args = AnyArguments
      def no_args = NoArguments
      def boolean = Argument.new("boolean") { |value| [true, false].include?(value) }
      def kind_of(owner) = Argument.new("kind of #{owner}") { |value| owner === value }
      alias a_kind_of kind_of
      def instance_of(owner) = Argument.new("an_instance_of(#{owner})") { |value| value.instance_of?(owner) }
      def duck_type(*names)
        words = "duck_type(#{names.map(&:inspect).join(", ")})"
        Argument.new(words) { |value| names.all? { |name| value.respond_to?(name) } }
      end
      def hash_including(*args)
        wanted = args.last.is_a?(Hash) ? args.pop : {}
        Argument.new("hash_including(#{Matchers.show(wanted)[1..-2]})") do |value|
          value.is_a?(Hash) && args.all? { |key| value.key?(key) } &&
            wanted.all? { |key, one| value.key?(key) && Matchers.values_match?(one, value[key]) }
        end
      end
      def hash_excluding(*args)
        unwanted = args.last.is_a?(Hash) ? args.pop : {}
        Argument.new("hash_not_including") do |value|
          args.none? { |key| value.key?(key) } && unwanted.none? { |key, one| value[key] == one }
        end
      end
      alias hash_not_including hash_excluding
      def array_including(*items)
        items = items.flatten(1)
        words = "array_including(#{items.map(&:inspect).join(", ")})"
        Argument.new(words) { |value| value.is_a?(Array) && (items - value).empty? }
      end
    end
    AnyArguments = Object.new.freeze
    NoArguments = Object.new.freeze

    # An argument that is meant by a rule.
    class Argument
      def initialize(words, &rule) = (@words, @rule = words, rule)
      def ===(value) = !!@rule.call(value)
      alias matches? ===
      alias == ===
      def description = @words
      def inspect = @words
      def failure_message = @words
    end
  end
end
