# What recipes, resources and providers may call.
class Chef
  module DSL
    autoload :RebootPending, "prelude:chef/recipe_lookups.rb"
    autoload :RegistryHelper, "prelude:chef/recipe_lookups.rb"
    autoload :Cheffish, "prelude:chef/recipe_lookups.rb"
    autoload :DataQuery, "prelude:chef/recipe_lookups.rb"
    autoload :PlatformIntrospection, "prelude:chef/recipe_lookups.rb"
    autoload :ChefVault, "prelude:chef/recipe_lookups.rb"
    autoload :Powershell, "prelude:chef/recipe_lookups.rb"
    autoload :Secret, "prelude:chef/recipe_lookups.rb"
    autoload :RenderHelpers, "prelude:chef/recipe_lookups.rb"
    autoload :ToText, "prelude:chef/recipe_lookups.rb"
    autoload :Audit, "prelude:chef/recipe_lookups.rb"
    autoload :CompileTime, "prelude:chef/recipe_lookups.rb"
    autoload :IncludeAttribute, "prelude:chef/recipe_lookups.rb"

    # Names of resources as methods; each is defined when first called.
    module Resources
      def self.add_resource_dsl(name)
        return if method_defined?(name) || private_method_defined?(name)
        define_method(name) do |*args, **kw, &block|
          if args.size > 1
            raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 0..1) to #{name}"
          end
          args << kw if args.empty? && !kw.empty?
          fx_declare(name, args[0], FX.here, block)
        end
      end
      def self.remove_resource_dsl(name) = remove_method(name)
      def self.known?(name) = method_defined?(name) || FX.known_resource?(name)
    end

    module DeclareResource
      # What a resource's own word does; the long form below takes options.
      def fx_declare(type, name, at, block)
        rc = run_context
        resource = fx_build(type, name, at, rc, nil, block)
        rc.resource_collection.fx_insert(resource, resource.declared_key)
      end

      def declare_resource(
        type, name = "", created_at: nil, run_context: self.run_context, enclosing_provider: nil, **_, &block)
        resource = build_resource(
          type, name, created_at: created_at || FX.here, run_context: run_context,
          enclosing_provider: enclosing_provider, &block)
        run_context.resource_collection
          .insert(resource, resource_type: resource.declared_type, instance_name: resource.name)
        resource
      end

      def build_resource(type, name = "", created_at: nil, run_context: self.run_context, enclosing_provider: nil, **_,
        &block)
        fx_build(type.to_sym, name, created_at || FX.here, run_context, enclosing_provider, block)
      end

      def fx_build(type, name, at, rc, provider, block)
        klass = Chef.resource_handler_map.resolve!(rc.node, type)
        name = klass.fx_default_name if name.nil?
        resource = klass.new(name, rc)
        resource.source_line = at
        resource.declared_type = type
        resource.cookbook_name = cookbook_name
        resource.recipe_name = recipe_name
        ep = provider || (is_a?(Chef::Provider) ? self : fx_enclosing)
        resource.enclosing_provider = ep if ep
        resource.params = fx_params
        if block
          resource.resource_initializing = true
          begin
            fx_outer ? FX.run_in(resource, block, fx_outer) : FX.run_in(resource, block)
          ensure
            resource.resource_initializing = false
          end
        end
        raise Chef::Exceptions::ValidationFailed, "name is a required property" if resource.name.nil?
        resource.after_created
        if resource.compile_time
          Array(resource.action).each { |a| resource.run_action(a) }
          resource.action :nothing
        end
        resource
      end
      def fx_enclosing = nil
      # The resource whose action declares others; their blocks get it.
      def fx_outer = is_a?(Chef::Provider) ? new_resource : nil
      def fx_params = {}

      def find_resource!(type, name, run_context: self.run_context)
        raise ArgumentError, "find_resource! does not take a block" if block_given?
        run_context.resource_collection.find(type.to_sym => name)
      end
      def find_resource(type, name, created_at: nil, **opts, &block)
        rc = opts[:run_context] || run_context
        find_resource!(type, name, run_context: rc)
      rescue Chef::Exceptions::ResourceNotFound
        block ? declare_resource(type, name, created_at: created_at || FX.here, **opts, &block) : nil
      end
      def edit_resource!(type, name, created_at: nil, run_context: self.run_context, &block)
        resource = find_resource!(type, name, run_context: run_context)
        resource.instance_exec(*fx_outer, &block) if block
        resource
      end
      def edit_resource(type, name, created_at: nil, run_context: self.run_context, **opts, &block)
        edit_resource!(type, name, run_context: run_context, &block)
      rescue Chef::Exceptions::ResourceNotFound
        declare_resource(type, name, created_at: created_at || FX.here, run_context: run_context, **opts, &block)
      end
      def delete_resource!(type, name, run_context: self.run_context)
        run_context.resource_collection.delete("#{type}[#{name}]")
      end
      def delete_resource(type, name, run_context: self.run_context)
        delete_resource!(type, name, run_context: run_context)
      rescue Chef::Exceptions::ResourceNotFound
        nil
      end
      def with_run_context(rc)
        raise ArgumentError, "with_run_context is only useful with a block" unless block_given?
        old = @run_context
        @run_context = case rc
                       when :root then old.root_run_context
                       when :parent then old.parent_run_context
                       when Chef::RunContext then rc
                       else raise ArgumentError,
                         "bad argument to run_context helper, must be :root, :parent, or a Chef::RunContext"
                       end
        ret = yield @run_context
        @run_context = old
        ret
      ensure
        @run_context = old
      end
    end

    # Helpers for every place: the file with them is read at the first use.
    module Universal
    end

    module Definitions
      def self.add_definition(name)
        return if method_defined?(name)
        define_method(name) do |*args, &block|
          definition = run_context.definitions[name.to_sym]
          return super(*args, &block) unless definition
          new_def = definition.dup
          new_def.params = new_def.params.dup
          new_def.node = run_context.node
          new_def.params[:name] = args[0]
          new_def.enclosing_provider = is_a?(Chef::Provider) ? self : nil
          new_def.instance_eval(&block) if block
          recipe = Chef::Recipe.new(cookbook_name, recipe_name, run_context)
          recipe.params = new_def.params
          recipe.instance_eval(&new_def.recipe)
        end
      end
    end

    module IncludeRecipe
      def include_recipe(*names) = run_context.include_recipe(*names, current_cookbook: cookbook_name)
      def load_recipe(name) = run_context.load_recipe(name, current_cookbook: cookbook_name)
    end

    module Core; end

    module Recipe
      include Chef::Mixin::ShellOut
      include Universal
      include DeclareResource
      include Resources
      include Definitions
      include IncludeRecipe

      # Brings in the helpers that most runs never call.
      def self.fx_helpers!
        return if @helpers
        @helpers = true
        ChefUtils::DSL::Platform
        [Universal, Chef::Recipe, Chef::Resource, Chef::Provider, Chef::Node].each do |m|
          unless m == Chef::Node
            m.include(ChefUtils, PlatformIntrospection, DataQuery, RebootPending, RegistryHelper, ChefVault, Secret,
              RenderHelpers, Cheffish)
          end
        end
        Chef::Node.include(ChefUtils, PlatformIntrospection)
        Universal.extend(ChefUtils)
        Chef::Provider.extend(ChefUtils, PlatformIntrospection)
        Chef::Resource.extend(ChefUtils, PlatformIntrospection)
      end

      def resources(*args) = run_context.resource_collection.find(*args)
      def tag(*tags) = node.tag(*tags)
      def tagged?(*tags) = tags.all? { |t| node.tags.include?(t) }
      def untag(*tags) = node.untag(*tags)
      def exec(args)
        raise Chef::Exceptions::ResourceNotFound,
          "exec was called, but you probably meant to use an execute resource.  If not, please call Kernel#exec " \
          "explicitly.  The exec block called was \"#{args}\""
      end
      def lookup_resource(*a) = resources(*a)
      def delayed_action(*) = nil
      def chef_environment = node.chef_environment

      def method_missing(name, *args, **kw, &block)
        bare = FX.bare_name?
        if FX.known_resource?(name)
          Resources.add_resource_dsl(name)
          return send(name, *args, **kw, &block)
        end
        unless Recipe.instance_variable_get(:@helpers)
          Recipe.fx_helpers!
          return send(name, *args, **kw, &block) if respond_to?(name, true)
        end
        fx_no_method(name, bare)
      end
      def fx_no_method(name, bare)
        raise NameError.new("undefined local variable or method `#{name}' for #{self}", name, receiver: self) if bare
        raise NoMethodError.new("undefined method `#{name}' for #{self}", name, receiver: self)
      end
      def respond_to_missing?(name, priv = false)
        return true if FX.known_resource?(name)
        unless Recipe.instance_variable_get(:@helpers)
          Recipe.fx_helpers!
          return self.class.method_defined?(name)
        end
        false
      end
    end
  end
end
