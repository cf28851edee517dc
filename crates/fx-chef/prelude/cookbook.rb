# Cookbooks: metadata, files by kind, and finding one for a node.
class Chef
  class Cookbook
    class Metadata
      FIELDS = %i{name description long_description maintainer maintainer_email license source_url issues_url
        privacy}.freeze
      attr_reader :dependencies, :platforms, :recommendations, :providing, :recipes, :gems, :chef_versions,
        :ohai_versions, :eager_load_libraries_value, :path
      def initialize(path = nil)
        @path = path
        @values = {}
        @dependencies, @platforms, @recommendations, @providing, @recipes = ChefUtils::Mash.new, ChefUtils::Mash.new,
          ChefUtils::Mash.new, ChefUtils::Mash.new, ChefUtils::Mash.new
        @gems, @chef_versions, @ohai_versions = [], [], []
        @version = "0.0.0"
        @eager = true
      end
      FIELDS.each do |f|
        define_method(f) { |v = nil| v.nil? ? (@values[f] || (f == :name ? nil : "")) : @values[f] = v }
      end
      def version(v = nil)
        return @version if v.nil?
        @version = Chef::Version.new(v).to_s
      end
      def depends(cookbook, *args)
        if cookbook == name
          raise RuntimeError, "Cookbook depends on itself in cookbook #{name}, please remove this unnecessary " \
            "self-dependency"
        end
        @dependencies[cookbook] = check_constraint("depends", cookbook, args)
      end
      def check_constraint(_what, _name, args)
        return ">= 0.0.0" if args.empty? || args[0].nil?
        raise Chef::Exceptions::ObsoleteDependencySyntax, "obsolete" if args[0].is_a?(Array) && args[0].size > 1
        Chef::VersionConstraint.new(Array(args[0])[0]).to_s
      end
      def supports(platform, *args) = @platforms[platform] = args[0] || ">= 0.0.0"
      def recommends(c, *args) = @recommendations[c] = args[0] || ">= 0.0.0"
      def suggests(*) = nil
      def conflicts(*) = nil
      def replaces(*) = nil
      def grouping(*) = nil
      def attribute(*) = nil
      def provides(p, *args) = @providing[p] = args[0] || ">= 0.0.0"
      def recipe(name, description) = @recipes[name] = description
      def gem(*args) = args.empty? ? @gems : @gems << args
      def chef_version(*args) = @chef_versions << args
      def ohai_version(*args) = @ohai_versions << args
      def eager_load_libraries(v = NOT_PASSED) = NOT_PASSED.equal?(v) ? @eager : @eager = v
      def method_missing(name, *args) = args.empty? ? @values[name] : @values[name] = args[0]
      def respond_to_missing?(*) = true
      def from_file(path)
        @path = path
        FX.eval_file(path, self)
        self
      end
      def from_hash(h)
        %w{name description long_description maintainer maintainer_email license source_url issues_url
          privacy}.each do |k|
          @values[k.to_sym] = h[k] if h.key?(k)
        end
        @version = h["version"] if h["version"]
        (h["dependencies"] || {}).each { |k, v| @dependencies[k] = v }
        (h["platforms"] || {}).each { |k, v| @platforms[k] = v }
        (h["recipes"] || {}).each { |k, v| @recipes[k] = v }
        (h["providing"] || {}).each { |k, v| @providing[k] = v }
        @chef_versions = h["chef_versions"] || []
        @ohai_versions = h["ohai_versions"] || []
        @gems = h["gems"] || []
        @eager = h["eager_load_libraries"] if h.key?("eager_load_libraries")
        self
      end
      def to_hash
        {
          "name" => name, "version" => version, "dependencies" => @dependencies.to_hash, "description" => description,
          "platforms" => @platforms.to_hash, "maintainer" => maintainer, "license" => license
        }
      end
      alias to_h to_hash
      def [](k) = to_hash[k.to_s]
      def validate_chef_version!
        return if @chef_versions.empty?
        ok = @chef_versions.any? do |list|
          Array(list).all? { |c| Chef::VersionConstraint.new(c).include?(Chef::VERSION) }
        end
        return if ok
        raise Chef::Exceptions::CookbookChefVersionMismatch.new(Chef::VERSION, name, version, *@chef_versions.flatten)
      end
    end
  end

  class CookbookVersion
    attr_reader :name, :root, :metadata, :files
    def initialize(root, metadata, files)
      @root, @metadata, @files = root, metadata, files
      @name = metadata.name
    end
    def root_dir = @root
    def root_paths = [@root]
    def version = @metadata.version
    def full_name = "#{name}-#{version}"
    def fully_qualified_recipe_names = recipes.map { |r| "#{name}::#{r}" }
    def to_s = "#{name} #{version}"
    def has_metadata_file? = true

    # Ruby files of one kind, sorted, by full path.
    def segment(dir, deep: false)
      prefix = "#{dir}/"
      @files.select { |f| f.start_with?(prefix) && f.end_with?(".rb") && (deep || !f[prefix.size..].include?("/")) }
        .map { |f| "#{@root}/#{f}" }
    end
    def libraries = segment("libraries", deep: true).sort_by { |f| f }
    def attributes_in_order
      list = segment("attributes")
      list << "#{@root}/attributes.rb" if @files.include?("attributes.rb")
      first = list.find { |f| short_name(f) == "default" }
      first ? [first] + (list - [first]) : list
    end
    def short_name(path)
      path.end_with?("/attributes.rb") && !path.end_with?("/attributes/attributes.rb") ? "default" :
        ::File.basename(path, ".rb")
    end
    def attribute_filenames_by_short_filename
      @attribute_names ||= attributes_in_order.to_h { |f| [short_name(f), f] }
    end
    def recipe_files
      @recipe_files ||= begin
        h = {}
        @files.each do |f|
          if f.start_with?("recipes/") && f.match?(/\.(rb|ya?ml|json)\z/) && !f["recipes/".size..].include?("/")
            h[::File.basename(f).sub(/\.(rb|ya?ml|json)\z/, "")] ||= "#{@root}/#{f}"
          elsif f.match?(/\Arecipe\.(rb|ya?ml|json)\z/)
            h["default"] ||= "#{@root}/#{f}"
          end
        end
        h
      end
    end
    def recipes = recipe_files.keys
    def recipe_filenames_by_name = recipe_files

    def fx_recipe_file(recipe_name) = recipe_files[recipe_name.to_s]
    def load_recipe(recipe_name, run_context)
      path = recipe_files[recipe_name.to_s]
      unless path
        raise Chef::Exceptions::RecipeNotFound, "could not find recipe #{recipe_name} for cookbook #{name}"
      end
      recipe = Chef::Recipe.new(name, recipe_name, run_context)
      case path
      when /\.ya?ml\z/ then recipe.from_yaml_file(path)
      when /\.json\z/ then recipe.from_json_file(path)
      else recipe.from_file(path)
      end
      recipe
    end

    def preference(dir, node)
      names = []
      if node && node["platform"]
        version = node["platform_version"].to_s
        platform = node["platform"]
        names << "host-#{node["fqdn"]}" if node["fqdn"]
        parts = version.split(".")
        until parts.empty?
          names << "#{platform}-#{parts.join(".")}"
          parts.pop
        end
        names << platform.to_s
      end
      names << "default"
      names
    end

    # Full path of a template or file for this node, or nil.
    def find_file(segment, source, node)
      return search_file(segment, source, node) unless source.is_a?(String)
      by = (@located ||= {})[segment] ||= {}
      by[source] ||= search_file(segment, source, node)
    end
    def search_file(segment, source, node)
      dir = segment.to_s
      Array(source).each do |s|
        preference(dir, node).each do |p|
          rel = "#{dir}/#{p}/#{s}"
          return "#{@root}/#{rel}" if file_set.include?(rel)
        end
        rel = "#{dir}/#{s}"
        return "#{@root}/#{rel}" if file_set.include?(rel)
      end
      nil
    end
    def file_set = @file_set ||= @files.to_h { |f| [f, true] }

    def preferred_filename_on_disk_location(node, segment, filename, _path = nil)
      find_file(segment, filename, node) || missing(segment, filename, node)
    end
    def missing(segment, filename, node)
      sources = Array(filename)
      tried = sources.flat_map do |s|
        preference(segment.to_s, node).map { |p| "#{segment}/#{p}/#{s}" } + ["#{segment}/#{s}"]
      end
      raise Chef::Exceptions::FileNotFound,
        "Cookbook '#{name}' (#{version}) does not contain a file at any of these locations:\n  " \
        "#{tried.join("\n  ")}#{fx_present(segment)}"
    end
    def fx_present(segment)
      have = @files.select { |f| f.start_with?("#{segment}/") }
      have.empty? ? "" : "\n\nThis cookbook _does_ contain: ['#{have.join("','")}']"
    end
    def has_template_for_node?(node, name) = !!find_file(:templates, name, node)
    def has_cookbook_file_for_node?(node, name) = !!find_file(:files, name, node)
    # Files below a directory of the cookbook's files, best directory first.
    def directory_listing(dir, node)
      preference("files", node).each do |p|
        prefix = "files/#{p}/#{dir}/"
        list = @files.select { |f| f.start_with?(prefix) }
        return list.map { |f| f[prefix.size..] }, "#{@root}/files/#{p}/#{dir}" unless list.empty?
      end
      prefix = "files/#{dir}/"
      list = @files.select { |f| f.start_with?(prefix) }
      return list.map { |f| f[prefix.size..] }, "#{@root}/files/#{dir}" unless list.empty?
      nil
    end
    def relative_filenames_in_preferred_directory(node, segment, dir) = directory_listing(dir, node)&.first || []
  end

  class CookbookCollection < ChefUtils::Mash
    def initialize(hash = {})
      super(nil)
      hash.each { |k, v| self[k] = v }
    end
    def [](name)
      regular_reader(name.to_s)
    end
    def validate! = nil
  end

  # Finds cookbooks below the paths; reads only the metadata it is asked for.
  class CookbookLoader
    def initialize(*paths)
      @paths = paths.flatten.map { |p| ::File.expand_path(p) }
      @found = {}
      @dirs = nil
    end
    def dirs
      @dirs ||= @paths.flat_map { |p| FX.subdirs(p).map { |d| "#{p}/#{d}" } }
    end
    def [](name)
      name = name.to_s
      return @found[name] if @found.key?(name)
      dir = dirs.reverse.find { |d| ::File.basename(d) == name && cookbook_name(d) == name } ||
        dirs.reverse.find { |d| ::File.basename(d) != name && cookbook_name(d) == name }
      @found[name] = dir && load(dir)
    end
    def cookbook_name(dir) = metadata(dir)&.name

    def metadata(dir)
      @meta ||= {}
      return @meta[dir] if @meta.key?(dir)
      m = if FX.file?("#{dir}/metadata.rb")
            Cookbook::Metadata.new.from_file("#{dir}/metadata.rb")
          elsif FX.file?("#{dir}/metadata.json")
            Cookbook::Metadata.new.from_hash(Chef::JSONCompat.parse(FX.read("#{dir}/metadata.json")))
          end
      m.name(::File.basename(dir)) if m && m.name.nil?
      @meta[dir] = m
    end

    def load(dir)
      files = FX.scan(dir)
      CookbookVersion.new(dir, metadata(dir), files)
    end
    def each
      dirs.each { |d| (n = cookbook_name(d)) && yield(n, self[n]) }
    end
    def names = dirs.filter_map { |d| cookbook_name(d) }
  end
end
