# chocolatey_package: known by name; it takes several packages at once.
class Chef
  class Resource
    class ChocolateyPackage
      property :package_name, [String, Array], coerce: proc { |x| [x].flatten }
      def initialize(name, run_context = nil)
        super
        package_name(name)
      end
    end
  end
end
