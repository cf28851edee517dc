# Gems of pure Ruby that lie on this machine, unpacked or as .gem files, brought onto the load path.
class Chef
  module FxGems
    # A gem of this name and version: unpacked in `dir`, or packed in `file`.
    Found = Struct.new(:name, :version, :dir, :file) do
      def to_s = "#{name} #{version}"
    end
    ROOTS = %w{/var/lib/gems/* /usr/share/rubygems-integration/* /usr/local/lib/ruby/gems/* /usr/lib/ruby/gems/*
      /usr/share/gems /opt/chef/embedded/lib/ruby/gems/*}.freeze
    @active = {}

    class << self
      # Gems on the load path, with their versions.
      attr_reader :active

      def store = ::File.join(Chef::Config[:file_cache_path], "gems")

      def roots
        own = [ENV["GEM_HOME"], *ENV["GEM_PATH"].to_s.split(":")].compact.reject(&:empty?)
        own + ROOTS.flat_map { |pattern| ::Dir.glob(pattern) } + [store]
      end

      # The newest that satisfies the requirement; of two alike the unpacked one.
      def find(name, requirement = nil, source = nil)
        wanted = Gem::Requirement.new(*Array(requirement || ">= 0").flat_map { |r| r.to_s.split(/\s*,\s*/) })
        all = (source ? packed(name, source) : []) + roots.flat_map do |root|
          unpacked(name, root) + packed(name, "#{root}/cache")
        end
        all = all.select { |g| wanted.satisfied_by?(Gem::Version.new(g.version)) }
        all.max_by { |g| [Gem::Version.new(g.version), g.dir ? 1 : 0] }
      end

      def version_in(file_name, name) = file_name[/\A#{Regexp.escape(name)}-(\d[0-9A-Za-z.]*?)(\.gem)?\z/, 1]

      def unpacked(name, root)
        ::Dir.glob("#{root}/gems/#{name}-*").filter_map do |dir|
          version = version_in(::File.basename(dir), name)
          Found.new(name, version, dir, nil) if version && ::File.directory?(dir)
        end
      end

      # Files below a directory, or one file; an address on the network is none.
      def packed(name, source)
        source = source.to_s.delete_prefix("file://")
        files = source.end_with?(".gem") ? [source] : ::Dir.glob("#{source}/#{name}-*.gem")
        files.filter_map do |file|
          version = version_in(::File.basename(file), name)
          Found.new(name, version, nil, file) if version && ::File.file?(file)
        end
      end

      # Brings a gem and what it needs onto the load path; the block is called around what unpacks.
      def activate(gem, &change)
        return if @active.key?(gem.name)
        refuse_native(gem)
        @active[gem.name] = gem.version
        dir = gem.dir || change.call(gem) { unpack(gem) }
        return unless dir
        needs(gem, dir).each do |name, requirement|
          more = find(name, requirement, gem.file && ::File.dirname(gem.file))
          activate(more, &change) if more
        end
        lib = "#{dir}/lib"
        $LOAD_PATH.unshift(lib) unless $LOAD_PATH.include?(lib)
      end

      def entries(gem)
        return ::Dir.glob("#{gem.dir}/**/*").map { |f| f.delete_prefix("#{gem.dir}/") } if gem.dir
        data = Chef::Mixin::ShellOut.fx_look!("tar", "-xOf", gem.file, "data.tar.gz").stdout
        list = Chef::Mixin::ShellOut.fx_look!("tar", "-tzf", "-", input: data).stdout
        list.lines.map { |l| l.chomp.delete_prefix("./") }
      end

      # Code in C needs a compiler and the other Ruby.
      def refuse_native(gem)
        native = entries(gem).find { |f| f.match?(%r{\A(ext/.*extconf\.rb|lib/.*\.so)\z}) }
        return unless native
        raise Chef::Exceptions::Package, "gem #{gem} has code in C (#{native}), which is not run here"
      end

      def unpack(gem)
        require "fileutils"
        dir = "#{store}/gems/#{gem.name}-#{gem.version}"
        FileUtils.mkdir_p(dir)
        Chef::Mixin::ShellOut.shell_out!("tar", "-xf", gem.file, "-C", dir, "data.tar.gz", "metadata.gz")
        Chef::Mixin::ShellOut.shell_out!("tar", "-xzf", "#{dir}/data.tar.gz", "-C", dir)
        ::File.delete("#{dir}/data.tar.gz")
        dir
      end

      # Names and requirements of the gems it needs at run time, from its description.
      def needs(gem, dir)
        spec = "#{::File.dirname(::File.dirname(dir))}/specifications/#{gem.name}-#{gem.version}.gemspec"
        if ::File.file?(spec)
          found = ::File.read(spec).scan(/add_(?:runtime_)?dependency\(%q<([^>]+)>[^,]*, \[([^\]]*)\]/)
          return found.map { |name, versions| [name, versions.scan(/"([^"]+)"/).flatten] }
        end
        return [] unless ::File.file?("#{dir}/metadata.gz")
        text = Chef::Mixin::ShellOut.fx_look!("gzip", "-dc", "#{dir}/metadata.gz").stdout
        text.split("!ruby/object:Gem::Dependency").drop(1).select { |part| part.include?("type: :runtime") }
          .map { |part| [part[/name: (\S+)/, 1], nil] }
      end
    end
  end
end
