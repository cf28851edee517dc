# portage_package: Gentoo.
class Chef
  class Provider
    class PortagePackage < Package
      def installed(n)
        category, name = n.include?("/") ? n.split("/", 2) : ["*", n]
        found = ::Dir["/var/db/pkg/#{category}/#{name}-*"].map { |p| ::File.basename(p).delete_prefix("#{name}-") }
          .grep(/\A\d/)
        if found.size > 1 && category == "*" &&
          ::Dir["/var/db/pkg/*/#{name}-[0-9]*"].map { |p| ::File.dirname(p) }.uniq.size > 1
          raise Chef::Exceptions::Package, "Multiple packages found for #{n}: specify a category"
        end
        found.max_by { |v| Gem::Version.new(v[/\A[\d.]+/].to_s.chomp(".")) }
      end
      def candidate(n)
        fx_look("emerge", "--color", "n", "--nospinner", "--search", n.split("/").last).stdout
          .to_s[/Latest version available: (\S+)/, 1]
      end
      def install(names, versions)
        tool("emerge", "-g", "--color", "n", "--nospinner", "--quiet", *options,
          *names.zip(versions).map { |n, v| v && v != candidate(n) ? "=#{n}-#{v}" : n })
      end
      def remove(names) = tool("emerge", "--unmerge", "--color", "n", "--nospinner", "--quiet", *options, *names)
    end
  end
end
