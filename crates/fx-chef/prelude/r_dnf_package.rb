# dnf_package: RPM packages from repositories.
class Chef
  class Resource
    class DnfPackage
      property :arch, [String, Array], coerce: proc { |x| [x].flatten }
      property :flush_cache, Hash, default: { before: false, after: false },
        coerce: proc { |v|
          v.is_a?(Hash) ? v : v.is_a?(Array) ? v.to_h { |x| [x, true] } : v == true || v == false ?
            { before: v, after: v } : nil
        }
    end
  end
  class Provider
    class DnfPackage < Package
      include Holding
      def program = "dnf"
      # Nothing is kept between two questions to the tool.
      def action_flush_cache = nil
      def manager = program
      def matches?(have, want) = FX.package_satisfies?(manager, settings, have, want)
      def trusts_names? = true
      # Only a version that the resource names is one for the tool.
      def install(names, _versions) = act(:install, names, names.map { |n| @versions[@names.index(n)] })
      def upgrade(names, _versions) = act(@now.values.all? ? :upgrade : :install, names)
    end
  end
end
