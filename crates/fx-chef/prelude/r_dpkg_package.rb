# dpkg_package: one .deb file.
class Chef
  class Provider
    class DpkgPackage < Package
      def sources = Array(new_resource.source || (@names.all? { |n| n.start_with?("/") } ? @names : nil))
      def load_current_resource
        @names = Array(new_resource.package_name)
        @files = @names.zip(sources).to_h
        @real = @names.to_h { |n| [n, @files[n] && ::File.exist?(@files[n]) ? fx_look("dpkg-deb", "--field", @files[n], "Package").stdout.strip : n] }
        super
      end
      def installed(n)
        r = fx_look("dpkg-query", "-W", "-f", "${Status} ${Version}", @real ? @real[n] : n)
        r.exitstatus == 0 && r.stdout =~ /\Ainstall ok installed (\S+)/ ? $1 : nil
      end
      def candidate(n) = @files[n] && ::File.exist?(@files[n]) ? fx_look("dpkg-deb", "--field", @files[n], "Version").stdout.strip : nil
      def install(names, _versions) = tool("dpkg", "-i", *options, *names.map { |n| @files[n] })
      def remove(names) = tool("dpkg", "-r", *options, *names.map { |n| @real[n] })
      def purge(names) = tool("dpkg", "-P", *options, *names.map { |n| @real[n] })
    end
  end
end
