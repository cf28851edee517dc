# gem_package: gems through a gem command on the machine; none is embedded here.
class Chef
  class Resource
    class GemPackage
      property :clear_sources, [TrueClass, FalseClass, nil], default: lazy { Chef::Config[:clear_gem_sources] },
        desired_state: false
      property :options, [String, Hash, Array, nil], desired_state: false
    end
  end
  class Provider
    class GemPackage < Package
      def gem_bin = (new_resource.respond_to?(:gem_binary) && new_resource.gem_binary) || "gem"
      def options = new_resource.options.is_a?(String) ? new_resource.options.shellsplit : []
      def manager = "gem"
      def settings = { options: options, program: gem_bin }
      # Several versions may be there; one that satisfies the wanted one counts.
      def installed(n)
        list = FX.package_versions(manager, settings, n)
        w = @versions && @versions[@names.index(n)]
        return list.first unless w
        list.find do |v|
          v == w || (w.match?(/[<>~=]/) && Gem::Requirement.new(w.split(",")).satisfied_by?(Gem::Version.new(v)))
        end
      end
      def matches?(_have, _want) = true
      def trusts_names? = true
      def install(names, versions)
        file = new_resource.source if new_resource.source.is_a?(String) && new_resource.source.end_with?(".gem")
        act(:install, names, versions, names.map { file })
      end
    end
  end
end
