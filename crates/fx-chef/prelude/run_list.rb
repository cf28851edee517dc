# Run lists and their expansion through roles.
class Chef
  class RunList
    include Enumerable
    class RunListItem
      attr_reader :name, :type, :version
      def initialize(item)
        case item
        when RunListItem then @name, @type, @version = item.name, item.type, item.version
        when Hash then @type, @name, @version = item["type"].to_sym, item["name"], item["version"]
        else
          case item.to_s
          when /\Arecipe\[([^\]@]+)(@([0-9]+(\.[0-9]+){1,2}))?\]\z/ then @type, @name, @version = :recipe, $1, $3
          when /\Arole\[([^\]]+)\]\z/ then @type, @name = :role, $1
          when /\A([^\s\[\]@]+)(@([0-9]+(\.[0-9]+){1,2}))?\z/ then @type, @name, @version = :recipe, $1, $3
          else raise ArgumentError,
            "Unable to create #{self.class} from #{item.class}:#{item.inspect}: must be recipe[#{item}] or role[" \
            "#{item}]"
          end
        end
      end
      def role? = @type == :role
      def recipe? = @type == :recipe
      def to_s = "#{@type}[#{@name}#{@version ? "@#{@version}" : ""}]"
      def to_json(*a) = to_s.to_json(*a)
      def ==(other)
        other.is_a?(RunListItem) ? to_s == other.to_s : other.to_s == to_s || (recipe? && other.to_s == @name)
      end
      alias eql? ==
      def hash = to_s.hash
    end

    attr_reader :run_list_items
    def initialize(*items)
      @run_list_items = []
      items.flatten.each { |i| self << i }
    end
    def <<(item)
      item = RunListItem.new(item)
      @run_list_items << item unless @run_list_items.any? { |i| i.to_s == item.to_s }
      self
    end
    alias add <<
    alias push <<
    def run_list = self
    def each(&block) = @run_list_items.each(&block)
    def [](i) = @run_list_items[i]
    def include?(item) = @run_list_items.any? { |i| i == RunListItem.new(item) }
    def size = @run_list_items.size
    def empty? = @run_list_items.empty?
    def to_s = @run_list_items.join(", ")
    def to_json(*a) = map(&:to_s).to_json(*a)
    def for_json = map(&:to_s)
    def recipe_names = select(&:recipe?).map(&:name)
    alias recipes recipe_names
    def role_names = select(&:role?).map(&:name)
    alias roles role_names
    def remove(item)
      @run_list_items.delete_if { |i| i == item }
      self
    end
    alias delete remove
    def reset!(*items)
      @run_list_items.clear
      items.flatten.each { |i| self << i }
      self
    end
    def ==(other) = map(&:to_s) == other.map(&:to_s)
    def expand(environment, _source = nil, _opts = {}) = RunListExpansion.new(environment, @run_list_items).expand

    # The recipes in order, with the attributes of the roles on the way.
    class RunListExpansion
      attr_reader :recipes_with_versions, :default_attrs, :override_attrs, :missing_roles_with_including_role,
        :run_list_trace, :run_list_items
      def initialize(environment, items)
        @environment, @run_list_items = environment, items
        @recipes, @default_attrs, @override_attrs, @applied = [], ChefUtils::Mash.new, ChefUtils::Mash.new, {}
        @missing_roles_with_including_role = []
      end
      def recipes = @recipes.map(&:first)
      def recipes_with_version_constraints = @recipes
      def roles = @applied.keys
      def errors = @missing_roles_with_including_role.map(&:first)
      def expand
        walk(@run_list_items, "top level")
        self
      end
      def walk(items, from)
        items.each do |item|
          if item.recipe?
            name = item.name.include?("::") ? item.name : item.name
            @recipes << [name, item.version] unless @recipes.any? { |r, _| fq(r) == fq(name) }
          elsif !@applied[item.name]
            @applied[item.name] = true
            role = Chef::Role.load_or_nil(item.name)
            unless role
              @missing_roles_with_including_role << [item.name, from]
              Chef::Log.error("Role #{item.name} (included by '#{from}') is in the runlist but does not exist. " \
                "Skipping expand.")
              next
            end
            walk(role.run_list_for(@environment).run_list_items, "role '#{item.name}'")
            @default_attrs = Chef::Mixin::DeepMerge.role_merge(role.default_attributes, @default_attrs)
            @override_attrs = Chef::Mixin::DeepMerge.role_merge(role.override_attributes, @override_attrs)
          end
        end
      end
      def fq(n) = n.include?("::") ? n : "#{n}::default"
    end
  end
end
