# dnf_package: RPM packages from repositories.
class Chef
  class Resource
    class DnfPackage
      property :arch, [String, Array], coerce: proc { |x| [x].flatten }
      property :flush_cache, Hash, default: { before: false, after: false }, coerce: proc { |v| v.is_a?(Hash) ? v : v.is_a?(Array) ? v.to_h { |x| [x, true] } : v == true || v == false ? { before: v, after: v } : nil }
    end
  end
  class Provider
    class DnfPackage < Package
      def program = "dnf"
      # Nothing is kept between two questions to the tool.
      def action_flush_cache = nil
      def installed(n)
        r = fx_look("rpm", "-q", "--queryformat", "%{VERSION}-%{RELEASE}\n", n)
        r = fx_look("rpm", "-q", "--whatprovides", "--queryformat", "%{VERSION}-%{RELEASE}\n", n) if r.exitstatus != 0
        r.exitstatus == 0 ? r.stdout.lines.last.to_s.strip : nil
      end
      def candidate(n)
        out = fx_look(program, "-q", "--showduplicates", "list", "available", n).stdout
        out.lines.map { |l| l.split }.select { |w| w.size >= 2 && w[0].include?(".") }.map { |w| w[1].sub(/\A\d+:/, "") }.last
      end
      def trusts_names? = true
      def install(names, versions) = tool(program, "-y", *options, "install", *names.zip(versions).map { |n, v| v && @versions[@names.index(n)] ? "#{n}-#{v}" : n })
      def upgrade(names, versions) = tool(program, "-y", *options, @now.values.all? ? "upgrade" : "install", *names)
      def remove(names) = tool(program, "-y", *options, "remove", *names)
      def locked?(n) = fx_look(program, "versionlock", "list").stdout.include?(n)
      def lock(names) = tool(program, "-y", "versionlock", "add", *names)
      def unlock(names) = tool(program, "-y", "versionlock", "delete", *names)
    end
  end
end
