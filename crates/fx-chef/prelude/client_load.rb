# Loading: which cookbooks a run has, in which order their files are read.
class Chef
  class Client
    def load_cookbooks
      FX.resolving(@policy && !Chef::Config[:local_mode] ? @policy.shown : @expansion.recipes)
      Client.fx_node = @node
      books = @policy ? store.artifacts(@policy.lock) : store.cookbooks(@environment, @expansion)
      store.settle(@opts["override"])
      @cookbooks = Chef::CookbookCollection.new(books)
      @books = books
      books.each_value { |b| b.metadata.validate_chef_version! }
      if Chef::Config[:local_mode]
        Chef::Log.info("Loading cookbooks [#{books.values.map { |b| "#{b.name}@#{b.version}" }.join(", ")}]")
      end
      books.each_value do |b|
        next if b.metadata.gems.empty? || Chef::Config[:skip_gem_metadata_installation]
        b.metadata.gems.each { |name, *versions| bring_gem(b, name, versions) }
      end
      FX.synchronizing(books.values.map { |b| [b.name, b.version] })
      keep_room
      @run_context = Chef::RunContext.new(@node, @cookbooks, @events)
      @run_status.run_context = @run_context
      Chef.set_run_context(@run_context)
      @node.automatic["cookbooks"] = books.to_h { |n, b| [n, { "version" => b.version }] }
    end

    # A gem that a cookbook's metadata names.
    def bring_gem(book, name, versions)
      versions = versions.grep(String)
      gem = FxGems.find(name, versions.empty? ? nil : versions)
      unless gem
        return Chef::Log.warn("cookbook #{book.name} asks for gem #{[name, *versions].join(" ")}: " \
          "it is not on this machine, and none are fetched")
      end
      FxGems.activate(gem) do |one, &unpack|
        changes = [[:gem, one.name, :version, "absent", one.version]]
        FX.step("gem", one.name, "unpack", "metadata of cookbook #{book.name}", changes, &unpack)
      end
    end

    # For each cookbook of the run list: what it needs, by name and depth first, then itself.
    def cookbook_order
      @cookbook_order ||= begin
        order, seen = [], {}
        visit = lambda do |name|
          next if seen[name]
          seen[name] = true
          @books[name].metadata.dependencies.keys.sort.each { |d| visit.call(d) if @books[d] }
          order << @books[name]
        end
        @expansion.recipes.each { |r| visit.call(r.split("::", 2)[0]) }
        # A policy's cookbooks are all loaded, also those nothing in the run list needs.
        @books.keys.sort.each { |n| visit.call(n) } if @policy
        order
      end
    end

    def compile
      FX.compiling
      FX.phase("load")
      books = cookbook_order
      books.each { |b| load_libraries(b) }
      load_plugins(books)
      FX.compliance
      books.each { |b| load_attributes(b) }
      books.each { |b| load_resources(b) }
      books.each { |b| load_definitions(b) }
      FX.phase("compile")
      @expansion.recipes.each do |r|
        cookbook, recipe = Chef::Recipe.parse_recipe_name(r)
        loading(@books[cookbook]&.fx_recipe_file(recipe)) { @run_context.load_recipe(r) }
      end
      if (text = @opts["recipe_text"])
        recipe = Chef::Recipe.new("(chef-apply cookbook)", "(chef-apply recipe)", @run_context)
        recipe.instance_eval(text, "(chef-apply)", 1)
      end
      Array(@opts["recipe_files"]).each do |f|
        next @run_context.load_recipe_file(::File.expand_path(f)) unless @opts["apply"]
        Chef::Recipe.new("(chef-apply cookbook)", "(chef-apply recipe)", @run_context).from_file(::File.expand_path(f))
      end
    end

    def load_libraries(book)
      eager = book.metadata.eager_load_libraries
      book.libraries.each do |f|
        next $LOAD_PATH.unshift(::File.dirname(f)) if eager == false
        next if eager.is_a?(String) && !::File.fnmatch(eager, f.delete_prefix("#{book.root}/libraries/"))
        loading(f) { load_library(f) }
      end
      $LOAD_PATH.unshift("#{book.root}/libraries") unless book.libraries.empty?
    end
    def load_attributes(book)
      book.attribute_filenames_by_short_filename.each do |n, f|
        loading(f) { @run_context.load_attribute(book.name, n) }
      end
    end
    def load_resources(book)
      book.segment("providers").each do |f|
        next if ::File.basename(f).start_with?("_")
        loading(f) { Chef::Provider::LWRPBase.build_from_file(book.name, f, @run_context) }
      end
      book.segment("resources").each { |f| loading(f) { load_resource(book, f) } }
    end
    def load_definitions(book)
      book.segment("definitions").each { |f| loading(f) { DefinitionFile.new(@run_context).from_file(f) } }
    end

    # The file that is being loaded is where a failure is said to be.
    def loading(path)
      @loading = path.to_s
      yield
      @loading = nil
      @loaded = @loaded.to_i + 1
    end

    # Ohai plug-ins of cookbooks, between libraries and attributes.
    def load_plugins(books)
      files = books.flat_map { |b| b.segment("ohai", deep: true) }
      dirs = Array(Chef::Config.given?(:ohai) || Chef::Config[:ohai_segment_plugin_path] ?
        Chef::Config[:ohai][:plugin_path] : nil)
      dirs.each { |d| files += ::Dir["#{d}/**/*.rb"].sort if d.is_a?(String) && ::File.directory?(d) }
      return if files.empty?
      Client.fx_plugins = true
      files.each { |f| ::Ohai.load_file(f) }
      ::Ohai.run
    end
    class << self
      attr_writer :fx_plugins
      def fx_plugins? = @fx_plugins || false
    end

    def load_library(path)
      Kernel.require(path)
    end

    def load_resource(book, path)
      return if ::File.basename(path).start_with?("_")
      Chef::Resource::LWRPBase.build_from_file(book.name, path, @run_context)
    end

    class DefinitionFile
      def initialize(run_context) = @run_context = run_context
      def from_file(path) = FX.eval_file(path, self)
      def define(name, params = {}, &block)
        d = Chef::ResourceDefinition.new
        d.define(name, params, &block)
        @run_context.definitions[name] = d
      end
    end
  end
end
