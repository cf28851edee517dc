# apt_package: Debian's packages from its archives.
class Chef
  class Provider
    class AptPackage < Package
      include Holding
      include Answers
      def manager = "apt"
      def settings
        { options: options, default_release: given(:default_release), replace_config: given(:overwrite_config_files) }
      end
      def given(name) = new_resource.respond_to?(name) ? new_resource.send(name) : nil
      # A name that another package provides stands for that one.
      def installed(n)
        found = super
        found ? (@virtual ||= {})[n] = nil : virtual(n) && found = super(virtual(n))
        found
      end
      def candidate(n) = virtual(n) ? super(virtual(n)) : super
      def leftovers?(n) = FX.package_leftovers?(manager, settings, n)

      # The package that provides a name which is none itself.
      def virtual(n)
        @virtual ||= {}
        return @virtual[n] if @virtual.key?(n)
        @virtual[n] = nil
        return nil if candidate(n)
        found = FX.package_providers(manager, settings, n)
        return nil if found.empty?
        if found.size > 1
          raise Chef::Exceptions::Package,
            "#{new_resource.package_name} is a virtual package provided by multiple packages, " \
            "you must explicitly select one"
        end
        logger.info("#{new_resource} is a virtual package, actually acting on package[#{found[0]}]")
        @virtual[n] = found[0]
      end
      def real(names) = names.map { |n| virtual(n) || n }

      # A virtual name is installed as it is: the version is that of its provider.
      def install(names, versions) = super(names, names.zip(versions).map { |n, v| virtual(n) ? nil : v })
      def remove(names) = super(real(names))
      def purge(names) = act(:purge, real(names))
    end
  end
end
