# Objects and classes whose methods are stubbed for the length of an example.
module RSpec
  module Mocks
    # Whether a class has a method by itself, not from one above it.
    def self.defines?(home, name) = home.method_defined?(name, false) || home.private_method_defined?(name, false)

    # The stubbed methods of one object, and what they were.
    class Proxy
      attr_reader :calls
      def initialize(target)
        @target, @messages, @calls, @originals = target, Hash.new { |all, name| all[name] = [] }, [], {}
      end
      def add(name)
        name = name.to_sym
        message = Message.new(@target, name)
        replace(name) unless @messages.key?(name)
        @messages[name] << message
        message
      end
      def stubbed(name) = @messages.key?(name) ? @messages[name].last : nil
      def heard?(name) = @messages.key?(name.to_sym) || (Double === @target && @target.__null?)
      def original(name) = @originals[name]
      def call_original(name, args, named, block)
        original = @originals[name]
        unless original
          raise MockExpectationError, "#{Mocks.show(@target)} received :#{name}, which has no original implementation"
        end
        original.call(*args, **named, &block)
      end
      def receive(name, args, named, block)
        @calls << [name, args, named, block]
        list = @messages[name].reverse
        expected, stubs = list.select { |one| one.fits?(args, named) }.partition(&:expected?)
        # Of several expectations the oldest counts that still waits; what it does not say the last stub does.
        wanted, stub = expected.reverse.find { |one| !used_up?(one) } || expected.last, stubs.first
        if wanted && stub && used_up?(wanted)
          wanted.count(args, named, block)
          return stub.call(@target, name, args, named, block)
        end
        return wanted.call(@target, name, args, named, block, stub) if wanted
        return stub.call(@target, name, args, named, block) if stub
        wanted = list.map { |one| "  expected: (#{one.arguments})" }.join("\n")
        advice = "\n Please stub a default value first if message might be received with other args as well. \n"
        more = list.none?(&:expected?) ? advice : ""
        got = [*args, *(named.empty? ? [] : [named])].map { |one| Matchers.show(one) }.join(", ")
        got = "no args" if got.empty?
        raise MockExpectationError, "#{Mocks.show(@target)} received :#{name} with unexpected arguments\n#{wanted}\n" \
          "       got: (#{got})#{more}"
      end
      def verify = @messages.each_value { |list| list.each(&:verify) }
      def reset
        return if Double === @target
        home = @target.singleton_class
        @messages.each_key do |name|
          home.__send__(:remove_method, name) if Mocks.defines?(home, name)
          home.define_method(name, @own[name]) if @own&.key?(name)
        end
      end

      private

      def used_up?(message)
        message.instance_variable_get(:@most) && message.received >= message.instance_variable_get(:@most)
      end
      def replace(name)
        return if Double === @target
        home = @target.singleton_class
        @originals[name] = @target.method(name) if @target.respond_to?(name, true)
        (@own ||= {})[name] = home.instance_method(name) if Mocks.defines?(home, name)
        proxy = self
        home.define_method(name) { |*args, **named, &block| proxy.receive(name, args, named, block) }
      end
    end

    # `allow_any_instance_of`: each instance gets the message when it is first sent.
    class AnyInstance
      def initialize(owner) = (@owner, @messages, @own = owner, Hash.new { |all, name| all[name] = [] }, {})
      def add(name)
        name = name.to_sym
        message = Message.new(@owner, name)
        replace(name) unless @messages.key?(name)
        @messages[name] << message
        message
      end
      def verify = @messages.each_value { |list| list.each(&:verify) }
      def reset
        @messages.each_key do |name|
          @owner.__send__(:remove_method, name) if Mocks.defines?(@owner, name)
          @owner.define_method(name, @own[name]) if @own[name]
        end
      end

      private

      def replace(name)
        @own[name] = @owner.instance_method(name) if Mocks.defines?(@owner, name)
        above = @owner.instance_method(name) if @owner.method_defined?(name) || @owner.private_method_defined?(name)
        messages = @messages[name]
        @owner.define_method(name) do |*args, **named, &block|
          message = messages.reverse.find { |one| one.fits?(args, named) }
          raise MockExpectationError, "#{Mocks.show(self)} received :#{name} with unexpected arguments" unless message
          original, wrap = message.instance_variable_get(:@original), message.instance_variable_get(:@wrap)
          if original || wrap
            message.count(args, named, block)
            bound = above.bind(self)
            next wrap ? wrap.call(bound, *args, **named, &block) : bound.call(*args, **named, &block)
          end
          message.call(self, name, args, named, block)
        end
      end
    end
  end
end
