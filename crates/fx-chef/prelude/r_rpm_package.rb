# rpm_package: one .rpm file.
class Chef
  class Provider
    class RpmPackage < Package
      def source = new_resource.source || new_resource.package_name
      def real = @real ||= ::File.exist?(source.to_s) ? fx_look("rpm", "-qp", "--queryformat", "%{NAME}", source).stdout : new_resource.package_name
      def installed(_n)
        r = fx_look("rpm", "-q", "--queryformat", "%{VERSION}-%{RELEASE}", real)
        r.exitstatus == 0 ? r.stdout : nil
      end
      def candidate(_n) = ::File.exist?(source.to_s) ? fx_look("rpm", "-qp", "--queryformat", "%{VERSION}-%{RELEASE}", source).stdout : nil
      def install(_names, _versions) = tool("rpm", *options, @now.values[0] ? "-U" : "-i", source)
      def remove(_names) = tool("rpm", *options, "-e", real)
    end
  end
end
