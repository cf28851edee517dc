# ksh: a script for ksh.
class Chef
  class Resource
    class Ksh
      def initialize(name, run_context = nil)
        super
        @interpreter = "ksh"
      end
    end
  end
  class Provider
    class Ksh < Script; end
  end
end
