# What a run knows: node, cookbooks, collection, notifications.
class Chef
  class RunContext
    NONE = [].freeze
    attr_accessor :node, :cookbook_collection, :definitions, :events, :runner, :resource_collection, :reboot_info,
      :rest, :rest_clean, :action_collection,
      :default_secret_service, :default_secret_config
    attr_reader :parent_run_context, :delayed_actions, :updated_resources, :before_notification_collection,
      :immediate_notification_collection, :delayed_notification_collection

    def initialize(node = nil, cookbooks = nil, events = nil, _logger = nil)
      @node = node
      node.run_context = self if node
      @cookbook_collection = cookbooks || {}
      @events = events || Chef::EventDispatch::Dispatcher.new
      @definitions = {}
      @loaded_recipes = {}
      @loaded_attributes = {}
      @reboot_info = {}
      fx_child_state
    end

    def fx_child_state
      @resource_collection = Chef::ResourceCollection.new(self)
      @before_notification_collection = {}
      @immediate_notification_collection = {}
      @delayed_notification_collection = {}
      @delayed_actions = []
      @updated_resources = {}
      @any = false
    end

    def any_notifications? = @any
    def unified_mode = @resource_collection.unified_mode
    def logger = Chef::Log.with_child
    def root_run_context
      rc = self
      rc = rc.parent_run_context while rc.parent_run_context
      rc
    end
    def create_child = ChildRunContext.new(self)

    def note(hash, n)
      @any = true
      (hash[n.notifying_resource.declared_key] ||= []) << n
    end
    def notifies_before(n)
      if unified_mode && @updated_resources.include?(n.notifying_resource.declared_key)
        raise Chef::Exceptions::UnifiedModeBeforeSubscriptionEarlierResource,
          "#{n.resource} is set to notify #{n.notifying_resource} before, but it has already been converged"
      end
      note(@before_notification_collection, n)
    end
    def notifies_immediately(n) = note(@immediate_notification_collection, n)
    def notifies_delayed(n)
      add_delayed_action(n) if unified_mode && @updated_resources.include?(n.notifying_resource.declared_key)
      note(@delayed_notification_collection, n)
    end
    def add_delayed_action(n)
      if @delayed_actions.any? { |o| o.duplicates?(n) }
        Chef::Log.info("#{n.notifying_resource} not queuing delayed action #{n.action} on #{n.resource} (delayed), " \
          "as it's already been queued")
      else
        @delayed_actions << n
      end
    end
    def before_notifications(r) = @before_notification_collection[r.is_a?(String) ? r : r.declared_key] || NONE
    def immediate_notifications(r) = @immediate_notification_collection[r.is_a?(String) ? r : r.declared_key] || NONE
    def delayed_notifications(r) = @delayed_notification_collection[r.is_a?(String) ? r : r.declared_key] || NONE
    def reverse_immediate_notifications(r)
      @immediate_notification_collection.values.flatten.select do |n|
        n.resource.is_a?(String) ? n.resource == r.declared_key : n.resource == r
      end
    end

    def include_recipe(*names, current_cookbook: nil)
      names.flatten.map { |n| load_recipe(n, current_cookbook: current_cookbook) }.select { |r| r }
    end
    def load_recipe(name, current_cookbook: nil)
      cookbook, recipe = Chef::Recipe.parse_recipe_name(name, current_cookbook: current_cookbook)
      return false if loaded_fully_qualified_recipe?(cookbook, recipe)
      loaded_recipe(cookbook, recipe)
      book = cookbook_collection[cookbook]
      unless book
        Chef::Log.warn("MissingCookbookDependency:\nRecipe `#{name}` is not in the run_list, and cookbook '" \
          "#{cookbook}'\nis not a dependency of any cookbook in the run_list. To load this recipe,\n" \
          "first add a dependency of the cookbook '#{cookbook}' into the metadata\nof the cookbook which depends on '" \
          "#{cookbook}'.\n")
      end
      unless book
        raise Chef::Exceptions::CookbookNotFound,
          "Cookbook #{cookbook} not found. If you're loading #{cookbook} from another cookbook, make sure you " \
          "configure the dependency in your metadata"
      end
      node.loaded_recipe(cookbook, recipe)
      book.load_recipe(recipe, self)
    end
    def load_recipe_file(path)
      raise Chef::Exceptions::RecipeNotFound, "could not find recipe file #{path}" unless ::File.exist?(path)
      recipe = Chef::Recipe.new("@recipe_files", path, self)
      recipe.from_file(path)
      recipe
    end
    def load_attribute(cookbook, file)
      return if @loaded_attributes["#{cookbook}::#{file}"]
      book = cookbook_collection[cookbook.to_s]
      unless book
        raise Chef::Exceptions::CookbookNotFound, "could not find cookbook #{cookbook} while loading attribute #{file}"
      end
      path = book.attribute_filenames_by_short_filename[file.to_s]
      unless path
        raise Chef::Exceptions::AttributeNotFound,
          "could not find filename for attribute #{file} in cookbook #{cookbook}"
      end
      @loaded_attributes["#{cookbook}::#{file}"] = true
      before = node.fx_cookbook
      node.fx_cookbook = cookbook.to_s
      node.from_file(path)
    ensure
      node.fx_cookbook = before
    end
    def loaded_recipes_hash = @loaded_recipes
    def loaded_recipes = loaded_recipes_hash.keys
    def loaded_attributes = @loaded_attributes.keys
    def loaded_fully_qualified_recipe?(cookbook, recipe) = loaded_recipes_hash.key?("#{cookbook}::#{recipe}")
    def loaded_recipe?(name) = loaded_fully_qualified_recipe?(*Chef::Recipe.parse_recipe_name(name))
    def loaded_recipe(cookbook, recipe) = loaded_recipes_hash["#{cookbook}::#{recipe}"] = true
    def has_template_in_cookbook?(cookbook, name) = !!cookbook_collection[cookbook]&.find_file(:templates, name, node)
    def has_cookbook_file_in_cookbook?(cookbook, name) = !!cookbook_collection[cookbook]&.find_file(:files, name, node)
    def request_reboot(info) = root_run_context.reboot_info = info
    def cancel_reboot = root_run_context.reboot_info = {}
    def reboot_requested? = root_run_context.reboot_info.size > 0
    def transport_connection = nil
    def open_stream(name: nil, **_)
      s = FxStream.new(name)
      return s unless block_given?
      yield s
    end

    class ChildRunContext < RunContext
      def initialize(parent)
        @parent_run_context = parent
        fx_child_state
      end
      %i{node cookbook_collection definitions events reboot_info rest rest_clean action_collection loaded_recipes_hash
        loaded_attributes default_secret_service default_secret_config}.each do |m|
        define_method(m) { @parent_run_context.send(m) }
      end
      %i{node= events= reboot_info= default_secret_service= default_secret_config=}.each do |m|
        define_method(m) { |v| @parent_run_context.send(m, v) }
      end
      def load_attribute(*a) = @parent_run_context.load_attribute(*a)
    end
  end
end
