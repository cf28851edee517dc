# The catalog as resources see it while it is applied: those written in Ruby are there as
# themselves, the others are made on first use.
module Puppet
  class Resource
    class Catalog
      def self.applied = @applied ||= new
      class DuplicateResourceError < Puppet::Error; end
      attr_accessor :name, :version, :host_config, :environment, :environment_instance, :code_id
      # The one that is applied knows what the compiler knows; others what they are given.
      def initialize(name = nil, *)
        @name = name
        @by_ref = {}
        @changed = []
        @host_config = true
        yield self if block_given?
      end
      def host_config? = !!@host_config
      def __applied? = equal?(self.class.applied)
      def __add(resource)
        resource.catalog = self
        @by_ref[resource.ref] ||= resource
        resource
      end
      def add_resource(*resources)
        resources.each do |r|
          if !__applied? && @by_ref.key?(r.ref)
            raise DuplicateResourceError, "Duplicate declaration: #{r.ref} is already declared; cannot redeclare"
          end
          __add(r)
        end
      end
      def add_resource_before(_other, *resources) = add_resource(*resources)
      def add_resource_after(_other, *resources) = add_resource(*resources)
      def remove_resource(*resources) = resources.each { |r| @by_ref.delete(r.ref) }
      def create_resource(type, options)
        made = Puppet::Type.type(type).new(options)
        add_resource(made)
        made
      end
      def alias(resource, name) = @by_ref["#{resource.type.to_s.capitalize}[#{Array(name).first}]"] ||= resource
      def add_edge(*) = nil
      # Brings the resources to what they should be; gives the transaction that did it.
      def apply(options = {})
        Puppet::Util::Storage.load if host_config?
        transaction = Puppet::Transaction.new(self, options[:report], options[:prioritizer])
        transaction.evaluate
        Puppet::Util::Storage.store
        yield transaction if block_given?
        transaction
      end
      def add_class(*names) = (@classes ||= []).concat(names)
      def clear(*) = @by_ref.clear
      def size = @by_ref.size
      def container_of(_resource) = nil
      def to_ral = self
      def finalize = self
      def relationship_graph(*) = @relationship_graph ||= RelationshipGraph.new(self)
      def resource(type, title = nil)
        ref = title.nil? && type.is_a?(String) ? type : Puppet::Resource.new(type, title).to_s
        kind, rest = ref.split("[", 2)
        ref = "#{kind.split("::").map(&:capitalize).join("::")}[#{rest}"
        return @by_ref[ref] || __known(Puppet::Bridge.find_resource(ref)) if __applied?
        @by_ref[ref] || __by_name(ref)
      end
      # A resource also answers to its name, where that is not its title.
      def __by_name(ref)
        kind, name = ref.split("[", 2)
        name = name.delete_suffix("]")
        @by_ref.values.find { |r| r.is_a?(Puppet::Type) && r.ref.start_with?("#{kind}[") && r.name.to_s == name }
      end
      def resources
        if __applied? && !@whole
          @whole = true
          Puppet::Bridge.all_resources.each do |data|
            __known(data) unless @by_ref.key?("#{data["type"]}[#{data["title"]}]")
          end
        end
        @by_ref.values
      end
      def resource_refs = resources.map(&:ref)
      def resource_keys = resources.map { |r| [r.type.to_s, r.title] }
      def each(&b) = resources.each(&b)
      def vertices = resources
      def classes = __applied? ? Puppet::Bridge.scope_info(0)["classes"] : @classes.to_a.dup
      # One that is not written in Ruby: who sets a value on it is heard.
      def __known(data)
        return nil unless data
        kind = Puppet::Type.type(data["type"].downcase) or return Puppet::Parser::Resource.__found(data)
        made = kind.allocate
        made.__know(data, self)
        @by_ref[made.ref] = made
      end
      def __touch(resource) = @changed.include?(resource) || @changed << resource
      def __changed
        list = @changed
        @changed = []
        list
      end

      # Who comes before whom, by what is written and by what types say themselves.
      class RelationshipGraph
        def initialize(catalog) = @catalog = catalog
        def edges
          @catalog.resources.grep(Puppet::Type).flat_map do |r|
            r.builddepends + r.autorequire(@catalog) + r.autobefore(@catalog) + r.autonotify(@catalog) +
              r.autosubscribe(@catalog)
          end
        end
        def direct_dependents_of(resource) = dependents(resource)
        def direct_dependencies_of(resource) = dependencies(resource)
        def adjacent(resource, direction: :out, type: :vertices)
          found = edges.select { |e| (direction == :out ? e.source : e.target).equal?(resource) }
          type == :edges ? found : found.map { |e| direction == :out ? e.target : e.source }
        end
        def vertices = @catalog.resources
        def dependencies(resource) = edges.select { |e| e.target.equal?(resource) }.map(&:source)
        def dependents(resource) = edges.select { |e| e.source.equal?(resource) }.map(&:target)
        def edge?(source, target) = edges.any? { |e| e.source.equal?(source) && e.target.equal?(target) }
        def path_between(source, target) = edge?(source, target) ? [[source, target]] : nil
      end
    end
  end
end
