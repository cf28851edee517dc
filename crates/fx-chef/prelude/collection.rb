# The resource collection: a list with a cursor, and look-up by name.
class Chef
  class ResourceCollection
    include Enumerable
    attr_accessor :unified_mode, :run_context

    def initialize(run_context = nil)
      @run_context = run_context
      @list = []
      @set = {}
      @cursor = nil
      @unified_mode = false
    end

    def resource_list = self
    def resource_set = self
    def insert(resource, opts = {})
      type = opts[:resource_type]
      name = opts[:instance_name]
      fx_insert(resource, type || name ? "#{type || resource.resource_name}[#{name || resource.name}]" :
        resource.declared_key)
    end
    def fx_insert(resource, key)
      if @cursor
        @cursor += 1
        @list.insert(@cursor, resource)
      else
        @list << resource
      end
      @set[key] = resource
      if @unified_mode
        run_context.runner.run_all_actions(resource)
      end
      resource
    end
    def <<(resource)
      insert(resource)
      self
    end
    alias push <<
    def insert_at(index, *resources)
      resources.each_with_index do |r, i|
        @list.insert(index + i, r)
        @set[r.declared_key] = r
      end
    end
    def delete(key)
      key = key.declared_key if key.is_a?(Chef::Resource)
      key = key.to_s
      r = @set.delete(key)
      unless r
        raise Chef::Exceptions::ResourceNotFound, "Cannot find a resource matching #{key} (did you define it first?)"
      end
      if (i = @list.index { |x| x.equal?(r) })
        @list.delete_at(i)
        @cursor -= 1 if @cursor && i <= @cursor
      end
      r
    end

    def execute_each_resource
      i = 0
      while i < @list.size
        @cursor = i
        at = @list[i]
        yield at
        i = @list[@cursor].equal?(at) || @cursor >= @list.size ? i + 1 : (@list.index { |x| x.equal?(at) } || i) + 1
      end
    end
    def each(&block) = @list.each(&block)
    def each_index(&block) = @list.each_index(&block)
    def [](index) = @list[index]
    def []=(index, r)
      @list[index] = r
      @set[r.declared_key] = r
    end
    def size = @list.size
    alias length size
    def empty? = @list.empty?
    def all_resources = @list
    def resources = @list
    def keys = @set.keys
    def last = @list.last
    def first = @list.first
    def to_a = @list.dup
    def index(r) = @list.index(r)
    def iterator = self
    def to_json(*a) = @list.map(&:to_s).to_json(*a)

    def lookup_local(key)
      key = key.declared_key if key.is_a?(Chef::Resource)
      r = @set[key.to_s]
      unless r
        raise Chef::Exceptions::ResourceNotFound, "Cannot find a resource matching #{key} (did you define it first?)"
      end
      r
    end

    def lookup(key)
      r = lookup_opt(key)
      return r if r
      raise Chef::Exceptions::ResourceNotFound, "Cannot find a resource matching #{key} (did you define it first?)"
    end
    def lookup_opt(key)
      key = key.is_a?(Chef::Resource) ? key.declared_key : key.to_s
      c = self
      while c
        r = c.fx_get(key)
        return r if r
        p = c.run_context && c.run_context.parent_run_context
        c = p && p.resource_collection
      end
      nil
    end
    alias lookup_recursive lookup
    def fx_get(key) = @set[key]

    def find(*args)
      return super() if args.empty? && block_given?
      found = args.flat_map do |arg|
        case arg
        when Hash then arg.flat_map { |type, names| Array(names).map { |n| lookup("#{type}[#{n}]") } }
        when String then find_text(arg)
        when Chef::Resource then [arg]
        else
          unless arg.respond_to?(:to_str)
            raise Chef::Exceptions::InvalidResourceSpecification,
              "arguments to Chef::ResourceCollection::ResourceSet#find should be of the form :resource => 'name' or " \
              "'resource[name]'"
          end
          find_text(arg.to_str)
        end
      end
      found.size == 1 ? found[0] : found
    end
    alias resources_named find
    def find_local(*args) = args.map { |a| lookup_local(a) }.then { |f| f.size == 1 ? f[0] : f }
    def find_recursive(*args) = find(*args)

    def find_text(text)
      r = lookup_opt(text)
      return [r] if r
      case text
      when /\A(.+)\[(.+?),(.+)\]\z/m
        type = $1
        text[/\A.+\[(.+)\]\z/m, 1].split(",").map { |n| lookup("#{type}[#{n}]") }.tap do
          Chef.deprecated(:multiresource_match, "The resource_collection multi-resource syntax is deprecated")
        end
      when /\A([^\[\]\s]+)\[(.*)\]\z/m then [lookup(text)]
      when /\A([^\[\]\s]+)\z/ then [lookup("#{text}[]")]
      else
        raise Chef::Exceptions::InvalidResourceSpecification,
          "The object `#{text.inspect}' is not valid for resource collection lookup. Use a String like " \
          "`resource_type[resource_name]' or a Chef::Resource object"
      end
    end

    def validate_lookup_spec!(spec)
      case spec
      when Chef::Resource, Hash then true
      when String
        return true if spec.match?(/\A.+\[.*\]\z/m) || spec.match?(/\A[^\[\]\s]+\z/)
        raise Chef::Exceptions::InvalidResourceSpecification,
          "The object `#{spec.inspect}' is not valid for resource collection lookup. Use a String like " \
          "`resource_type[resource_name]' or a Chef::Resource object"
      else
        raise Chef::Exceptions::InvalidResourceSpecification,
          "The object `#{spec.inspect}' is not valid for resource collection lookup. Use a String like " \
          "`resource_type[resource_name]' or a Chef::Resource object"
      end
    end
  end
end
