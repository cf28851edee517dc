# A compiled catalog: resources by reference, and the order that they promise.
module RSpec
  module Puppet
    class Catalogue
      # Parameters that have the title where nothing is given.
      NAMES = { "File" => "path", "Exec" => "command", "Notify" => "message" }.freeze
      Resource = Struct.new(:type, :title, :parameters, :tags, :exported, :file, :line, :sensitive) do
        def [](name)
          name = name.to_s
          return title if name == "title"
          parameters.fetch(name) { title if name == "name" || NAMES[type] == name }
        end
        def ref = "#{type}[#{title}]"
        def to_s = ref
        def to_hash = parameters.to_h { |key, value| [key.to_sym, value] }
        def sensitive?(name) = sensitive.include?(name.to_s)
      end

      attr_reader :data, :resources
      def initialize(data, exported: false)
        @data, @by_ref = data, {}
        @resources = data["resources"].select { |one| !!one["exported"] == exported }.map do |one|
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

      # `ntp::config` is written `Ntp::Config`.
      def self.type_name(text)
        parts = text.to_s.split("::").reject(&:empty?)
        parts.map { |part| part[0].to_s.upcase + part[1..].to_s.downcase }.join("::")
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
            parent_directory(one)&.then { |dir| all[dir.ref] << one }
          end
          all
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
  end
end
