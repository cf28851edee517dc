# gem_package: gems through a gem command on the machine; none is embedded here.
class Chef
  class Resource
    class GemPackage
      property :clear_sources, [TrueClass, FalseClass, nil], default: lazy { Chef::Config[:clear_gem_sources] }, desired_state: false
      property :options, [String, Hash, Array, nil], desired_state: false
    end
  end
  class Provider
    class GemPackage < Package
      def gem_bin = (new_resource.respond_to?(:gem_binary) && new_resource.gem_binary) || "gem"
      def options = new_resource.options.is_a?(String) ? new_resource.options.shellsplit : []
      def installed(n)
        out = fx_look(gem_bin, "list", "--local", "--exact", n).stdout
        list = out[/\A#{Regexp.escape(n)} \((.*)\)/, 1].to_s.split(/,\s*/).map { |v| v.sub("default: ", "") }
        i = @names.index(n)
        w = @versions && @versions[i]
        w ? (list.find { |v| v == w || (w.match?(/[<>~=]/) && Gem::Requirement.new(w.split(",")).satisfied_by?(Gem::Version.new(v))) }) : list.first
      end
      def matches?(_have, _want) = true
      def candidate(n) = fx_look(gem_bin, "search", "--remote", "--exact", n).stdout[/\((\S+?)[,)\s]/, 1]
      def trusts_names? = true
      def install(names, versions)
        names.zip(versions).each do |n, v|
          src = new_resource.source.is_a?(String) && new_resource.source.end_with?(".gem") ? new_resource.source : n
          tool(gem_bin, "install", src, "-q", "--no-document", *(v ? ["-v", v] : []), *options)
        end
      end
      def remove(names) = names.each { |n| tool(gem_bin, "uninstall", n, "-q", "-x", "-I", "-a") }
    end
  end
end
