# The catalog as resources see it while it is applied: those written in Ruby are there as
# themselves, the others are made on first use.
module Puppet
  class Resource
    class Catalog
      def self.applied = @applied ||= new
      attr_accessor :name, :version
      def initialize
        @by_ref = {}
        @changed = []
      end
      def host_config? = true
      def host_config = true
      def __add(resource)
        resource.catalog = self
        @by_ref[resource.ref] ||= resource
        resource
      end
      def add_resource(*resources) = resources.each { |r| __add(r) }
      def resource(type, title = nil)
        ref = title.nil? && type.is_a?(String) ? type : Puppet::Resource.new(type, title).to_s
        kind, rest = ref.split("[", 2)
        ref = "#{kind.split("::").map(&:capitalize).join("::")}[#{rest}"
        @by_ref[ref] || __known(Puppet::Bridge.find_resource(ref))
      end
      def resources
        unless @whole
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
      def classes = Puppet::Bridge.scope_info(0)["classes"]
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
    end
  end
end
