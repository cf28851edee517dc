# The runners of ChefSpec: a node, its recipes compiled and walked through as Chef does it, in this process.
module ChefSpec
  # A client as far as a runner needs one: which files of cookbooks are read, and in which order.
  class Compiler < ::Chef::Client
    # Libraries, resources and definitions are read once in a process, whoever runs.
    READ = Hash.new { |all, kind| all[kind] = {} }

    def initialize(node, books, recipes)
      super({})
      @node, @books, @recipes = node, books, recipes
      @events = ::Chef::EventDispatch::Dispatcher.new
      @run_context = ::Chef::RunContext.new(node, ::Chef::CookbookCollection.new(books), @events)
      ::Chef.set_run_context(@run_context)
    end
    attr_reader :run_context

    # Recipes too, unless only what they stand on is asked for.
    def compile(all: true)
      FX.phase("load")
      books = cookbook_order
      books.each { |one| once(:libraries, one) { load_libraries(one) } }
      if all
        once(:plugins, *books) { load_plugins(books) } unless books.empty?
        books.each { |one| load_attributes(one) }
      end
      books.each { |one| once(:resources, one) { load_resources(one) } }
      books.each { |one| once(:definitions, one) { load_definitions(one) } }
      DEFINITIONS.each { |name, one| @run_context.definitions[name] ||= one }
      return unless all
      FX.phase("compile")
      @recipes.each { |one| @run_context.load_recipe(one) }
    end

    private

    DEFINITIONS = {}
    def once(kind, *books)
      known = READ[kind]
      return if books.all? { |one| known[one.name] }
      books.each { |one| known[one.name] = true }
      yield
      DEFINITIONS.merge!(@run_context.definitions) if kind == :definitions
    end
    def cookbook_order
      order, seen = [], {}
      @recipes.each { |one| visit(::Chef::Recipe.parse_recipe_name(one).first, order, seen) }
      order
    end
    def visit(name, order, seen)
      return if seen[name]
      seen[name] = true
      book = @books[name] or raise ::Chef::Exceptions::CookbookNotFound, "Cookbook #{name} not found. If you're " \
        "loading #{name} from another cookbook, make sure you configure the dependency in your metadata"
      book.metadata.dependencies.keys.sort.each { |other| visit(other, order, seen) }
      order << book
    end
  end

  # Cookbooks of a path, read once.
  module Shelf
    @shelves = {}
    def self.of(paths, root)
      @shelves[[paths, root]] ||= begin
        loader = ::Chef::CookbookLoader.new(paths)
        dirs = root ? [root] : loader.dirs
        # Of two with one name the later path counts.
        dirs.each_with_object({}) { |dir, all| (name = loader.cookbook_name(dir)) && all[name] = loader.load(dir) }
      end
    end
  end

  class SoloRunner
    def self.converge(*recipes) = new.tap { |one| one.converge(*recipes) }
    attr_reader :options, :run_context

    def initialize(options = {})
      @options = with_defaults(options)
      configure
      yield node if block_given?
    end

    def converge(*recipes)
      configure
      @converging = false
      node.run_list.reset!
      recipes.each { |one| node.run_list.add(one) }
      return self if dry_run?
      expand
      { role_default: :default_attributes, normal: :normal_attributes, role_override: :override_attributes,
        automatic: :automatic_attributes }.each { |level, option| merge(level, options[option]) }
      compile
      yield node if block_given?
      @converging = true
      FX.phase("converge")
      catch(:end_client_run_early) { ::Chef::Runner.new(@run_context).converge }
      self
    end

    def converge_block(&block)
      converge do
        ::Chef::Recipe.new(cookbook_name, "_test", run_context).instance_exec(&block)
      end
    end

    # What recipes stand on: libraries and resources, so that a spec may name them.
    def preload!
      return if ENV["CHEFSPEC_NO_PRELOAD"]
      @only_preload = true
      converge("recipe[#{cookbook_name}]")
      node.run_list.reset!
    ensure
      @only_preload = false
    end

    def node
      runner = self
      @node ||= make_node.tap { |one| one.define_singleton_method(:runner) { runner } }
    end

    def resource_collection = @resource_collection ||= @run_context.resource_collection
    def find_resource(type, name, action = nil)
      resource_collection.all_resources.reverse_each.find do |one|
        one.declared_type == type.to_sym && (name === one.name || name === one.identity) &&
          (action.nil? || one.performed_action?(action))
      end
    end
    def find_resources(type)
      resource_collection.all_resources.select { |one| Normalize.name(one) == type.to_sym }
    end
    def compiling? = !@converging
    def step_into?(resource)
      Array(options[:step_into]).map { |one| Normalize.name(one) }.include?(Normalize.name(resource))
    end
    def dry_run? = !!options[:dry_run]
    def to_s = "#<#{self.class.name} run_list: [#{node.run_list}]>"
    def inspect = "#<#{self.class.name} options: #{options.inspect}, run_list: [#{node.run_list}]>"

    # `chef_run.package("x")`: the resource itself.
    def method_missing(name, *args, &block)
      own = ChefSpec.matchers[Normalize.name(name)]
      return instance_exec(args.first, &own) if own
      return find_resource(name, args.first) if Words.resource?(name)
      super
    end
    def respond_to_missing?(name, priv = false)
      ChefSpec.matchers.key?(name.to_sym) || Words.resource?(name) || super
    end

    private

    def with_defaults(options)
      config = RSpec.configuration
      root = config.cookbook_root || own_root(options)
      { cookbook_root: root, cookbook_path: config.cookbook_path || ChefSpec.beside(root),
        role_path: config.role_path || above("roles"),
        environment_path: config.environment_path || above("environments"), file_cache_path: config.file_cache_path,
        log_level: config.log_level, path: config.path, platform: config.platform, version: config.version }
        .merge(options.to_h.transform_keys(&:to_sym))
    end
    # The cookbook that a spec file belongs to: what stands above its directory `spec`.
    def own_root(options)
      place = options[:spec_declaration_locations] || caller.find { |line| line.match?(%r{/spec(/|\z)}) && spec?(line) }
      raise Error::CookbookPathNotFound if place.nil?
      path = File.expand_path(place.split(/:\d/, 2).first)
      here = Dir.pwd
      return File.join(here, path.delete_prefix("#{here}/").split("/").take_while { |part| part != "spec" }) if
        path.start_with?("#{here}/")
      path.rpartition("/spec/").first
    end
    def spec?(line) = RSpec::Core::Place.own?(line)
    def above(name)
      dir = Dir.pwd
      loop do
        return File.join(dir, name) if File.exist?(File.join(dir, name))
        return nil if dir == File.dirname(dir)
        dir = File.dirname(dir)
      end
    end

    def make_node
      facts = Fauxhai.mock(options).shared
      ::Chef::Node.new.tap do |one|
        one.name(::Chef::Config[:node_name] || facts["fqdn"] || facts["machinename"] || facts["hostname"])
        one.chef_environment(::Chef::Config[:environment] || "_default")
        one.automatic = facts
      end
    end

    def expand
      expansion = node.run_list.expand(node.chef_environment)
      raise ::Chef::Exceptions::MissingRole, expansion unless expansion.errors.empty?
      @recipes = expansion.recipes
      node.apply_expansion_attributes(expansion)
      # A recipe called default goes by both of its names.
      node.automatic["recipes"] = @recipes.flat_map do |one|
        one.end_with?("::default") ? [one.delete_suffix("::default"), one] : one.include?("::") ? [one] :
          [one, "#{one}::default"]
      end
      node.automatic["expanded_run_list"] = @recipes.map { |one| one.include?("::") ? one : "#{one}::default" }
      node.automatic["roles"] = expansion.roles
    end

    def merge(level, more)
      return unless more
      merged = ::Chef::Mixin::DeepMerge.merge(node.public_send(level), more)
      node.public_send(:"#{level}=", merged)
    end

    def compile
      compiler = Compiler.new(node, books, @recipes)
      @run_context, @resource_collection = compiler.run_context, nil
      compiler.compile(all: !@only_preload)
    rescue ::Chef::Exceptions::NoSuchResourceType => e
      raise Error::MayNeedToSpecifyPlatform, "It appears that Chef could not find the resource on the given " \
        "platform. Name a platform and a version, as in\n\n    ChefSpec::SoloRunner.new(platform: 'ubuntu', version: " \
        "'22.04')\n\nHere is the original error:\n\n    #{e.message}"
    end
    def books
      paths = Array(options[:cookbook_path])
      found = Shelf.of(paths, paths.size == 1 && !paths.first.match?(/cookbook/) ? options[:cookbook_root] : nil)
      found.each_value { |one| one.metadata.validate_chef_version! }
      found
    end

    def cookbook_name
      root = options[:cookbook_root]
      @cookbook_name ||= ::Chef::CookbookLoader.new([]).cookbook_name(root) || File.basename(root)
    end

    def configure
      config = ::Chef::Config
      config.reset
      config[:local_mode] = true
      config[:solo] = config[:solo_legacy_mode] = true
      config[:cache_type] = "Memory"
      config[:client_key] = config[:client_name] = config[:node_name] = nil
      config[:file_cache_path] = options[:file_cache_path] || ChefSpec.cache
      config[:cookbook_path] = Array(options[:cookbook_path])
      config[:no_lazy_load] = config[:force_logger] = true
      config[:role_path] = Array(options[:role_path])
      config[:environment_path] = options[:environment_path]
      ::Chef::Log.level = options[:log_level] if options[:log_level]
      ::Chef::FxStore.fx_spec = nil
    end
  end
  Runner = SoloRunner

  # The name that a thing goes by: a resource by what it was declared as.
  module Normalize
    def self.name(thing)
      name = thing.declared_type if thing.respond_to?(:declared_type)
      name ||= thing.respond_to?(:resource_name) ? thing.resource_name : thing
      name.to_s.tr("-", "_").to_sym
    end
    def resource_name(thing) = Normalize.name(thing)
  end

  class << self
    def matchers = @matchers ||= {}
    # A resource that `chef_run` answers with.
    def define_matcher(name)
      matchers[name.to_sym] = proc { |identity| find_resource(name, identity) }
      self
    end
    # One directory for what recipes keep, gone with the process.
    def cache
      @cache ||= begin
        require "tmpdir"
        require "fileutils"
        Dir.mktmpdir(%w[chefspec file_cache_path]).tap { |dir| at_exit { FileUtils.rm_rf(dir) } }
      end
    end

    # Where other cookbooks are looked for: beside the spec's own, and where the files that say where cookbooks
    # come from have put them. Nothing is fetched.
    attr_accessor :brought
    def beside(root)
      around = File.expand_path("..", root)
      brought ? [around, *Brought.places(root)].uniq : around
    end
  end

  # What Berkshelf, Policyfiles and Librarian would have brought, as far as it lies on this machine.
  module Brought
    def self.places(root)
      @places ||= {}
      @places[root] ||= begin
        own = %w[Berksfile Policyfile.rb Cheffile].flat_map { |name| named(File.join(root, name)) }
        vendored = %w[cookbooks berks-cookbooks vendor/cookbooks].map { |name| File.join(root, name) }
        (own + vendored + [File.expand_path("~/.berkshelf/cookbooks")]).select { |dir| File.directory?(dir) }
      end
    end
    # The directories around the cookbooks that such a file names by a path.
    def self.named(file)
      return [] unless File.file?(file)
      found = File.read(file).scan(/^\s*cookbook\s*\(?\s*['"][^'"]+['"].*?path(?::|\s*=>)\s*['"]([^'"]+)['"]/).flatten
      found.map { |path| File.dirname(File.expand_path(path, File.dirname(file))) }
    end
  end
end
