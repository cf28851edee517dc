# chocolatey_package: known by name; it takes several packages at once.
class Chef
  class Resource
    class ChocolateyPackage
      property :package_name, [String, Array], coerce: proc { |x| [x].flatten }
    end
  end
end
