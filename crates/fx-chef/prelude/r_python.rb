# python: a script for python.
class Chef
  class Resource
    class Python
      def initialize(name, run_context = nil)
        super
        @interpreter = "python"
      end
    end
  end
  class Provider
    class Python < Script; end
  end
end
