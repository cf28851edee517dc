# A message that is stubbed on an object: whom it fits, what it does, how often it is to come.
module RSpec
  module Mocks
    class Message
      attr_reader :name, :received
      def initialize(target, name)
        @target, @name, @received, @least, @most, @limits = target, name, 0, nil, nil, false
        @work, @yields, @with = nil, [], nil
      end
      def expect!
        @expected = true
        exactly(1) unless @limits
        @limits = false
      end
      def expected? = !!@expected
      def implementation=(work)
        @work = work
      end

      def with(*args, **named, &block)
        @with = [args, named]
        @work = block if block
        self
      end
      # The arguments fit where this says so.
      def with_rule(rule) = tap { @rule = rule }
      def between(least, most) = limit(least, most)
      def and_return(*values, &block)
        values = [nil] if values.empty? && !block
        at_least_so_often(values.size) if values.size > 1
        @work = block || ->(*) { values.size > 1 ? values.shift : values.first }
        self
      end
      def and_raise(*error) = tap { @work = ->(*) { error.empty? ? raise("") : raise(*error) } }
      def and_throw(*tag) = tap { @work = ->(*) { throw(*tag) } }
      def and_invoke(*works) = tap { @work = ->(*args) { (works.size > 1 ? works.shift : works.first).call(*args) } }
      def and_yield(*args) = tap { @yields << args }
      def and_call_original = tap { @original = true }
      def and_wrap_original(&block) = tap { @wrap = block }
      def once = exactly(1)
      def twice = exactly(2)
      def thrice = exactly(3)
      def never = exactly(0)
      def times = self
      def time = self
      def ordered
        @ordered = true
        Mocks.space.order << self
        self
      end
      def exactly(count) = limit(count, count)
      def at_least(count) = limit(number(count), nil)
      def at_most(count) = limit(nil, number(count))

      def fits?(args, named)
        return !!@rule.call(*args, **named) if @rule
        return true if @with.nil?
        wanted, keys = @with
        return true if wanted == [AnyArguments]
        return args.empty? && named.empty? if wanted == [NoArguments]
        if (at = wanted.index { |one| AnyArguments.equal?(one) })
          head, tail = wanted[0...at], wanted[at + 1..]
          return false if args.size < head.size + tail.size
          return all?(head, args.first(head.size)) && all?(tail, args.last(tail.size))
        end
        # Named arguments and a last hash are one thing to whoever wrote the expectation.
        given = named.empty? ? args : [*args, named]
        wanted = [*wanted, keys] unless keys.empty?
        wanted.size == given.size && all?(wanted, given)
      end

      def count(_args, _named, _block) = @received += 1
      def call(target, name, args, named, block, stub = nil)
        @received += 1
        raise MockExpectationError, too_often(args, named) if @most && @received > @most && @expected
        in_order
        @yields.each { |values| last = block.call(*values) if block; @yielded = last }
        return @wrap.call(Mocks.space.known(target).original(name), *args, **named, &block) if @wrap
        return Mocks.space.known(target).call_original(name, args, named, block) if @original
        return stub.call(target, name, args, named, block) if @work.nil? && @yields.empty? && stub
        return @yielded if @work.nil?
        work(args, named, block)
      end
      def verify
        return if !@expected || ((@least.nil? || @received >= @least) && (@most.nil? || @received <= @most))
        raise MockExpectationError, failure
      end
      def failure
        wanted = if @least && @least == @most then times_of(@least)
                 elsif @least then "at least #{times_of(@least)}"
                 else "at most #{times_of(@most)}"
                 end
        head = @with.nil? || @with.first == [AnyArguments] ? "*(any args)" : arguments
        tail = @with.nil? ? " with any arguments" : " with arguments: (#{arguments})"
        "(#{Mocks.receiver(@target)}).#{@name}(#{head})\n    expected: #{wanted}#{tail}\n" \
          "    received: #{times_of(@received)}#{tail}"
      end
      def too_often(args, named)
        given = [*args, *(named.empty? ? [] : [named])].map { |one| Matchers.show(one) }.join(", ")
        given = "no args" if given.empty?
        tail = @with.nil? ? " with any arguments" : " with arguments: (#{arguments})"
        got = given == "no args" ? "" : " with arguments: (#{given})"
        "(#{Mocks.receiver(@target)}).#{@name}(#{given})\n    expected: #{times_of(@most)}#{tail}\n" \
          "    received: #{times_of(@received)}#{got}"
      end
      def arguments
        return "any args" if @with.nil? || @with.first == [AnyArguments]
        return "no args" if @with.first == [NoArguments]
        args, named = @with
        [*args.map { |one| Matchers.show(one) }, *(named.empty? ? [] : [Matchers.show(named)])].join(", ")
      end

      private

      def limit(least, most)
        @least, @most, @limits = least, most, true
        self
      end
      def number(count) = { once: 1, twice: 2, thrice: 3 }.fetch(count, count)
      def at_least_so_often(count) = (@least, @most = count, count if @expected && @least == 1 && @most == 1)
      def all?(wanted, given) = wanted.zip(given).all? { |one, value| Matchers.values_match?(one, value) }
      def times_of(count) = "#{count} #{count == 1 ? "time" : "times"}"
      def in_order
        return unless @ordered
        order = Mocks.space.order
        order.shift if order.first.equal?(self) && @received >= (@least || 1)
        return if order.none? { |one| one.equal?(self) } || order.first.equal?(self)
        raise MockExpectationError, "#{Mocks.show(@target)} received :#{@name} out of order"
      end
      def work(args, named, block)
        return @work.call(*args, **named, &block) if @work.is_a?(Method) || !@work.lambda?
        @work.call(*args, **named, &block)
      end
    end
  end
end
