# bash: a script for bash.
class Chef
  class Resource
    class Bash
      def initialize(name, run_context = nil)
        super
        @interpreter = "bash"
      end
    end
  end
  class Provider
    class Bash < Script; end
  end
end
