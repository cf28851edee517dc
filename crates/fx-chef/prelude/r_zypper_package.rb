# zypper_package: SUSE's packages.
class Chef
  class Resource
    class ZypperPackage
      property :gpg_check, [TrueClass, FalseClass], default: lazy { Chef::Config[:zypper_check_gpg] }
      property :global_options, [String, Array], coerce: proc { |x| x.is_a?(String) ? x.shellsplit : x }
    end
  end
  class Provider
    class ZypperPackage < Package
      include Holding
      def manager = "zypper"
      def settings
        { options: options, global_options: new_resource.global_options, unchecked: !new_resource.gpg_check }
      end
    end
  end
end
