# Decorators: an object that stands for another.
require "delegate"
class Chef
  class Decorator < SimpleDelegator
    class Lazy < Decorator
      def initialize(&block) = (@block = block)
      def __getobj__ = @obj ||= @block.call
    end
    class LazyArray < Lazy; end
    class Unchain < Decorator; end
  end
end
