# csh: a script for csh.
class Chef
  class Resource
    class Csh
      def initialize(name, run_context = nil)
        super
        @interpreter = "csh"
      end
    end
  end
  class Provider
    class Csh < Script; end
  end
end
