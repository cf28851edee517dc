# A compiled catalog: resources by reference, and the order that they promise.
module RSpec
  module Puppet
    class Catalogue
      # Parameters that have the title where nothing is given.
      NAMES = { "File" => "path", "Exec" => "command", "Notify" => "message" }.freeze
      Resource = Struct.new(:type, :title, :given, :tags, :exported, :file, :line, :sensitive) do
        def [](name)
          name = name.to_s
          return title if name == "title"
          given.fetch(name) { name == "name" || NAMES[type] == name ? title : Catalogue.named(type, title)[name] }
        end
        def parameters = given.transform_keys(&:to_sym)
        def key?(name) = given.key?(name.to_s)
        alias include? key?
        def keys = parameters.keys
        def ref = "#{type}[#{title}]"
        def to_s = ref
        def to_hash = Catalogue.named(type, title).transform_keys(&:to_sym).merge(parameters)
        def sensitive?(name) = sensitive.include?(name.to_s)
      end

      # The catalogs that were asked for last; examples beside each other want the same one.
      KEPT = 16
      def self.asked(wish, facts)
        kept = (@asked ||= {})
        asked = [wish, facts]
        if (found = kept.delete(asked))
          return kept[asked] = found
        end
        answer = ::JSON.parse(FxPuppet.compile(wish, facts))
        raise ::Puppet::PreformattedError, answer["error"] if answer["error"]
        kept.shift if kept.size >= KEPT
        kept[asked] = new(answer["catalog"].merge("exported" => answer["exported"]))
      end

      attr_reader :data, :resources
      def initialize(data, exported: false)
        @data, @by_ref = data, {}
        list = exported ? data["exported"].to_a : data["resources"].reject { |one| one["exported"] }
        @resources = list.map do |one|
          Resource.new(one["type"], one["title"].to_s, one["parameters"] || {}, one["tags"] || [], one["exported"],
            one["file"], one["line"], one["sensitive_parameters"] || [])
        end
        @resources.each { |one| @by_ref[key(one.type, one.title)] = one }
      end

      def call = self
      def resource(type, title = nil)
        type, title = $1, $2 if title.nil? && type.to_s =~ /\A(.+?)\[(.*)\]\z/m
        title = Catalogue.type_name(title) if type.to_s.casecmp?("class")
        @by_ref[key(type, title.to_s)] || by_alias(type, title.to_s)
      end
      def resource_refs = resources.map(&:ref)
      def to_s = "#<Puppet::Resource::Catalog>"
      alias inspect to_s

      # `ntp::config` is written `Ntp::Config`. With two colons before it, it is another name, as in the original.
      def self.type_name(text)
        text.to_s.split("::").map(&:capitalize).join("::")
      end

      # What a type written in Ruby makes of a title.
      def self.named(type, title)
        (@named ||= {})[[type, title]] ||= begin
          found = type.include?("::") || type == "Class" ? nil : ::Puppet::Type.type(type.downcase)
          found.nil? || found.__builtin? ? {} : from_patterns(found, title)
        rescue ::TypeError, ::NameError, ::LoadError
          # A type or provider that cannot be read here says nothing of titles; using it says why.
          {}
        end
      end
      def self.from_patterns(type, title)
        type.title_patterns.each do |rule, parts|
          found = rule.match(title) or next
          names = parts.map { |name, _| name.to_s }
          return names.zip(found.captures).to_h.compact
        end
        {}
      end

      # References in the parameters that order resources, one by one.
      def self.references(value)
        case value
        when Array then value.flat_map { |one| references(one) }
        when String then value.scan(/\A([A-Z][\w:]*)\[(.*)\]\z/m)
        else []
        end
      end

      # References that lead to no resource.
      def missing
        resources.flat_map do |one|
          %w[require before notify subscribe].flat_map do |name|
            Catalogue.references(one[name]).reject { |type, title| resource(type, title) }
              .map { |type, title| [one, name, "#{type}[#{title}]"] }
          end
        end
      end

      # Whether one comes before the other: by what they promise, by containers, by their paths.
      def before?(first, second)
        first, second = [first, second].map { |one| one.is_a?(Resource) ? one : resource(one) }
        return false unless first && second
        seen, todo = {}, [first]
        until todo.empty?
          one = todo.shift
          next if seen[one.ref]
          seen[one.ref] = true
          followers(one).each do |next_one|
            return true if next_one.equal?(second) || inside?(second, next_one)
            todo << next_one
          end
        end
        false
      end

      # Resources in a circle, if there is one.
      def cycle
        state = {}
        resources.each do |one|
          path = walk(one, state, [])
          return path if path
        end
        nil
      end

      def contained_in(container) = children[container.ref] || []

      private

      def key(type, title) = "#{type.to_s.downcase}[#{title}]"
      def by_alias(type, title)
        resources.find do |one|
          one.type.casecmp?(type.to_s) && (one["alias"] == title || one["name"] == title || one["path"] == title)
        end
      end
      def children
        @children ||= data["edges"].to_a.each_with_object({}) do |edge, all|
          target = resource(edge["target"])
          (all[edge["source"]] ||= []) << target if target
        end
      end
      def parents
        @parents ||= children.each_with_object({}) do |(ref, list), all|
          list.each { |one| all[one.ref] = resource(ref) }
        end
      end
      def inside?(one, container)
        at = parents[one.ref]
        at = parents[at.ref] while at && !at.equal?(container)
        !at.nil?
      end
      # What comes after a resource, and after each container around it.
      def followers(one)
        list, at = [], one
        while at
          list.concat(direct[at.ref] || [])
          at = parents[at.ref]
        end
        list
      end
      def direct
        @direct ||= begin
          all = Hash.new { |hash, ref| hash[ref] = [] }
          resources.each do |one|
            %w[before notify].each { |name| targets(one, name).each { |other| all[one.ref] << other } }
            %w[require subscribe].each { |name| targets(one, name).each { |other| all[other.ref] << one } }
          end
          # What goes without saying yields to what is said.
          automatic.each { |first, second| all[first.ref] << second unless all[second.ref].include?(first) }
          all
        end
      end
      def automatic
        resources.flat_map do |one|
          dir = parent_directory(one)
          dir ? [[dir, one]] : Ral.edges(self, one)
        end
      end
      def targets(one, name) = Catalogue.references(one[name]).filter_map { |type, title| resource(type, title) }
      # A file comes after the directory that is managed above it.
      def parent_directory(one)
        return nil unless one.type == "File"
        path = one["path"] || one.title
        until (path = File.dirname(path)) == "/" || path == "."
          found = resource("File", path)
          return found if found
        end
        nil
      end
      def walk(one, state, path)
        return path[path.index(one)..] if state[one.ref] == :open
        return nil if state[one.ref]
        state[one.ref] = :open
        (direct[one.ref] || []).flat_map { |other| [other, *contained_in(other)] }.each do |other|
          found = walk(other, state, path + [one])
          return found if found
        end
        state[one.ref] = :done
        nil
      end
    end

    # Resources of types that are written in Ruby, as far as they say whom they need by themselves.
    module Ral
      KINDS = { autorequire: true, autosubscribe: true, autobefore: false, autonotify: false }.freeze
      def self.edges(catalogue, one)
        return [] if one.type == "Class" || one.type.include?("::")
        type = ::Puppet::Type.type(one.type.downcase)
        return [] if type.nil? || type.__builtin? || KINDS.keys.none? { |kind| type.__autos(:"#{plural(kind)}").any? }
        given = one.parameters.reject { |_, value| value.nil? }
        made = type.new(::Puppet::Resource.new(one.type, one.title, parameters: given))
        made.catalog = Known.new(catalogue)
        KINDS.flat_map do |kind, first|
          made.public_send(kind).filter_map do |edge|
            other = catalogue.resource(first ? edge.source.ref : edge.target.ref)
            other && (first ? [other, one] : [one, other])
          end
        end
      rescue ::Puppet::Error, ArgumentError
        # What is wrong with a resource is for others to say.
        []
      end
      def self.plural(kind) = kind == :autonotify ? "autonotifies" : "#{kind}s"

      # The catalog as such types see it.
      class Known
        def initialize(catalogue) = @catalogue = catalogue
        def resource(type, title = nil)
          found = @catalogue.resource(type, title) or return nil
          ::Puppet::Resource.new(found.type, found.title, parameters: found.parameters)
        end
        def resources = @catalogue.resources.map { |one| resource(one.type, one.title) }
        def host_config? = true
      end
    end
  end
end
