# yum_package: as dnf_package, with the older tool.
class Chef
  class Resource
    class YumPackage
      property :package_name, [String, Array], identity: true, coerce: proc { |x| x.is_a?(Array) ? x.to_a : x }
      property :version, [String, Array], coerce: proc { |x| x.is_a?(Array) ? x.to_a : x }
      property :arch, [String, Array], coerce: proc { |x| x.is_a?(Array) ? x.to_a : x }
      property :flush_cache, Hash, default: { before: false, after: false },
        coerce: proc { |v|
          v.is_a?(Hash) ? v : v.is_a?(Array) ? v.to_h { |x| [x, true] } : v == true || v == false ?
            { before: v, after: v } : nil
        }
    end
  end
  class Provider
    class YumPackage < DnfPackage
      def program = ::File.exist?("/usr/bin/dnf") && !::File.exist?("/usr/bin/yum") ? "dnf" : "yum"
    end
  end
end
