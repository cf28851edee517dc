# Data bags and search, as recipes ask for them.
class Chef
  class DataBag
    def self.load(name) = FxStore.current.data_bag(name)
    def self.list = FxStore.current.data_bags
  end

  class DataBagItem
    attr_accessor :raw_data, :data_bag
    def self.load(bag, id)
      unless bag.to_s.match?(/\A[-a-zA-Z0-9_.]+\z/)
        raise Chef::Exceptions::InvalidDataBagName,
          "DataBags must have a name matching /^[-a-zA-Z0-9_.]+$/, you gave #{bag.inspect}"
      end
      item = from_hash(FxStore.current.data_bag_item(bag, id))
      item.data_bag = bag.to_s
      item
    end
    def self.from_hash(h)
      item = new
      item.raw_data = ChefUtils::Mash.new(h)
      item
    end
    def id = raw_data["id"]
    def to_hash = raw_data.to_hash.merge("chef_type" => "data_bag_item", "data_bag" => data_bag)
    alias to_h to_hash
    def [](k) = raw_data[k]
    def []=(k, v)
      raw_data[k] = v
    end
    def to_s = "data_bag_item[#{data_bag}, #{id}]"
    def object_name = "data_bag_item_#{data_bag}_#{id}"
    def inspect = "data_bag_item[#{data_bag.inspect}, #{id.inspect}, #{raw_data.inspect}]"
    def to_json(*a) = to_hash.to_json(*a)
    def ==(other) = other.respond_to?(:to_hash) && other.to_hash == to_hash
    def method_missing(name, *args, &block) = raw_data.respond_to?(name) ? raw_data.send(name, *args, &block) : super
    def respond_to_missing?(name, priv = false) = raw_data.respond_to?(name)
  end

  class Search
    class Query
      # A node that nobody named by a field is looked for in these.
      FUZZY = %w{tags roles fqdn addresses policy_name policy_group}.freeze
      def initialize(*) = nil

      # What recipes call: all rows, unless a page was asked for by its place.
      def search_dsl(type, query = "*:*", *rest, **opts, &block)
        return search(type, query, *rest, **opts, &block) if block || rest.size >= 2
        rows = []
        search(type, query, *rest, **opts) { |row| rows << row }
        rows
      end

      def search(type, query = "*:*", *args, **opts, &block)
        check(type)
        opts = options(args, opts)
        query = FUZZY.map { |f| "#{f}:*#{query}*" }.join(" OR ") if opts.delete(:fuzz) && type.to_s == "node" &&
          !query.to_s.include?(":")
        start, rows = (opts[:start] || 0).to_i, opts[:rows]&.to_i
        page = FxStore.current.search(type, query, start, rows || 1000, opts[:filter_result])
        return [page["rows"], page["start"], page["total"]] unless block
        loop do
          page["rows"].each { |row| block.call(row) if row }
          start += rows || 1000
          break if start >= page["total"]
          page = FxStore.current.search(type, query, start, rows || 1000, opts[:filter_result])
        end
        true
      end

      private

      def check(type)
        return if type.is_a?(String) || type.is_a?(Symbol)
        raise Chef::Exceptions::InvalidSearchQuery,
          "Invalid search object type #{type.inspect} (#{type.class}), must be a String or Symbol. " \
          "Usage: search(:node, QUERY[, OPTIONAL_ARGS])"
      end
      # Old recipes give sort, start, rows and filter by their places.
      def options(args, opts)
        return args.first.transform_keys(&:to_sym).merge(opts) if args.first.is_a?(Hash)
        { start: args[1], rows: args[2], filter_result: args[3] }.compact.merge(opts)
      end
    end
  end
end
