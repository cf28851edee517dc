# Objects that stand for others.
module RSpec
  module Mocks
    # An object that knows only what it was told.
    class Double < BasicObject
      def self.make(args, owner, kind = nil)
        values = ::Hash === args.last ? args.pop : {}
        new(args.first, values, owner, kind)
      end
      def initialize(name, values, owner, kind = nil)
        @name, @owner, @kind = name, owner, kind
        values.each { |message, value| Expected.new({ message => value }).install(:allow, self, nil) }
      end
      def __name
        return "#<#{@kind == :class ? "ClassDouble" : "InstanceDouble"}(#{@name}) (anonymous)>" if @owner
        @name.nil? || @name == "" ? "#<Double (anonymous)>" : "#<Double #{@name.inspect}>"
      end
      def __null? = !!@null
      def as_null_object = ((@null = true); self)
      def null_object? = !!@null
      def inspect = __name
      def to_s = __name
      def to_ary = nil
      def nil? = false
      def class = Double
      def hash = __id__
      def object_id = __id__
      def is_a?(owner)
        @owner && @kind == :instance && ::Class === (found = __owner) ? found <= owner : owner.equal?(Double)
      end
      alias kind_of? is_a?
      def instance_of?(owner) = owner.equal?(Double)
      def frozen? = false
      def tap
        yield self
        self
      end
      def then = yield(self)
      def dup = self
      def ===(other) = equal?(other)
      def ==(other)
        equal?(other) || (::RSpec::Mocks.space.known(self)&.stubbed(:==) ? method_missing(:==, other) : false)
      end
      def respond_to?(name, _private = false) = !!@null || !!::RSpec::Mocks.space.known(self)&.stubbed(name.to_sym)
      def __send__(name, ...) = name.to_s.start_with?("__") ? super : public_send(name, ...)
      def send(name, ...) = public_send(name, ...)
      def public_send(name, *args, **named, &block)
        return method_missing(name.to_sym, *args, **named, &block) unless OWN.include?(name.to_sym)
        ::BasicObject.instance_method(:__send__).bind(self).call(name, *args, **named, &block)
      end
      OWN = %i[inspect to_s nil? class hash object_id is_a? kind_of? respond_to? == equal? ! != as_null_object
               null_object? instance_exec instance_eval].freeze
      def instance_variable_get(_) = nil
      def raise(*args) = ::Kernel.raise(*args)
      def method_missing(name, *args, **named, &block)
        proxy = ::RSpec::Mocks.space.known(self)
        return proxy.receive(name, args, named, block) if proxy&.stubbed(name)
        if @null
          ::RSpec::Mocks.space.proxy(self).calls << [name, args, named, block]
          return self
        end
        got = [*args, *(named.empty? ? [] : [named])].map { |one| ::RSpec::Matchers.show(one) }.join(", ")
        got = "no args" if got.empty?
        ::Kernel.raise MockExpectationError, "#{__name} received unexpected message :#{name} with (#{got})"
      end
      def respond_to_missing?(*) = false
      def __owner
        return @owner if ::Module === @owner
        ::Object.const_get(@owner.to_s) if /\A[A-Z]/.match?(@owner.to_s) && ::Object.const_defined?(@owner.to_s)
      end
    end
  end
end
