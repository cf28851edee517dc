# dpkg_package: one .deb file.
class Chef
  class Provider
    class DpkgPackage < Package
      include Answers
      def manager = "dpkg"
      def sources = Array(new_resource.source || (@names.all? { |n| n.start_with?("/") } ? @names : nil))
      def load_current_resource
        @names = Array(new_resource.package_name)
        @files = @names.zip(sources).to_h
        @there = @names.to_h do |n|
          [n, @files[n] && ::File.exist?(@files[n]) ? FX.package_in_file(manager, settings, @files[n]) : [n, nil]]
        end
        super
      end
      def real(names) = names.map { |n| @there[n][0] }
      def installed(n) = super(@there[n][0])
      def candidate(n) = @there[n][1]
      def install(names, _versions) = act(:install, names, nil, names.map { |n| @files[n] })
      def remove(names) = super(real(names))
      def purge(names) = act(:purge, real(names))
    end
  end
end
