# ruby: a script for ruby.
class Chef
  class Resource
    class Ruby
      def initialize(name, run_context = nil)
        super
        @interpreter = "ruby"
      end
    end
  end
  class Provider
    class Ruby < Script; end
  end
end
