# rpm_package: one .rpm file.
class Chef
  class Provider
    class RpmPackage < Package
      def manager = "rpm"
      def source = new_resource.source || new_resource.package_name
      # Name and version in the file, where there is one.
      def there
        @there ||= ::File.exist?(source.to_s) ? FX.package_in_file(manager, settings, source) :
          [new_resource.package_name, nil]
      end
      def installed(_n) = super(there[0])
      def candidate(_n) = there[1]
      def matches?(have, want) = FX.package_satisfies?(manager, settings, have, want)
      def install(_names, _versions) = act(@now.values[0] ? :upgrade : :install, [there[0]], nil, [source])
      def remove(_names) = super([there[0]])
    end
  end
end
