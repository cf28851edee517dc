# perl: a script for perl.
class Chef
  class Resource
    class Perl
      def initialize(name, run_context = nil)
        super
        @interpreter = "perl"
      end
    end
  end
  class Provider
    class Perl < Script; end
  end
end
