# Data bags and search over local files.
class Chef
  class DataBag
    def self.dirs = Array(Chef::Config[:data_bag_path])
    def self.load(name)
      dir = dirs.map { |d| "#{d}/#{name}" }.find { |d| ::File.directory?(d) }
      Chef::FxMissing.raise('404 "Not Found"', "there is no data bag #{name} in #{dirs.join(", ")}") unless dir
      FX.names(dir).select { |f| f.end_with?(".json") }.to_h { |f| [f.delete_suffix(".json"), "#{dir}/#{f}"] }
    end
    def self.list = dirs.flat_map { |d| FX.names(d) }.to_h { |n| [n, n] }
  end

  class DataBagItem
    attr_accessor :raw_data, :data_bag
    def self.load(bag, id)
      unless bag.to_s.match?(/\A[-a-zA-Z0-9_.]+\z/)
        raise Chef::Exceptions::InvalidDataBagName,
          "DataBags must have a name matching /^[-a-zA-Z0-9_.]+$/, you gave #{bag.inspect}"
      end
      path = DataBag.load(bag)[id.to_s]
      Chef::FxMissing.raise('404 "Not Found"', "there is no item #{id} in the data bag #{bag}") unless path
      item = new
      item.data_bag = bag.to_s
      item.raw_data = ChefUtils::Mash.new(Chef::JSONCompat.parse(FX.read(path)))
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
      def initialize(*) = nil

      def search_dsl(type, query = "*:*", *rest, **opts, &block)
        opts = rest.pop.merge(opts) if rest.last.is_a?(Hash)
        rows = matching(type, query)
        start = opts[:start] || rest[1] || 0
        count = opts[:rows] || rest[2]
        rows = rows[start.to_i..] || []
        rows = rows.first(count.to_i) if count
        if (f = opts[:filter_result])
          rows = rows.map do |r|
            f.to_h do |name, path|
              [name.to_s, Array(path)
                .inject(data_of(r)) { |h, k| h.respond_to?(:[]) && !h.is_a?(String) ? h[k.to_s] : nil }]
            end
          end
        end
        return rows unless block
        rows.each(&block)
        true
      end

      def search(type, query = "*:*", *args, **opts, &block)
        rows = search_dsl(type, query, *args, **opts)
        if block
          rows.each(&block)
          return true
        end
        [rows, 0, rows.size]
      end

      def matching(type, query)
        matcher = begin
          Matcher.new(query.to_s).tap { |m| m.match?({}) }
        rescue StandardError
          Chef::FxMissing.raise('400 "Bad Request"', "the query #{query.to_s.inspect} cannot be read")
        end
        objects(type.to_s).select { |o| matcher.match?(flat(data_of(o))) }
      end

      def objects(type)
        case type
        when "node" then nodes
        when "role" then names_in(:role_path).filter_map { |n| Chef::Role.load_or_nil(n) }
        when "environment" then names_in(:environment_path).map { |n| Chef::Environment.load(n) }
        when "client" then []
        else
          unless DataBag.list.key?(type)
            Chef::FxMissing.raise('404 "Not Found"', "there is no data bag #{type} in #{DataBag.dirs.join(", ")}")
          end
          DataBag.load(type).keys.map { |id| DataBagItem.load(type, id) }
        end
      end

      def names_in(key)
        dir = Array(Chef::Config[key]).first
        FX.names(dir.to_s).map { |f| f.sub(/\.(rb|json)\z/, "") }.uniq.sort
      end

      def nodes
        dir = Chef::Config.path_under("nodes")
        list = []
        me = Chef.node
        files = FX.names(dir).select { |f| f.end_with?(".json") }
        files.each do |f|
          h = Chef::JSONCompat.parse(FX.read("#{dir}/#{f}"))
          n = Chef::Node.new
          n.name(h["name"] || f.delete_suffix(".json"))
          n.chef_environment(h["chef_environment"]) if h["chef_environment"]
          n.default = h["default"] || {}
          n.normal = h["normal"] || {}
          n.override = h["override"] || {}
          n.automatic = h["automatic"] || {}
          n.run_list = Chef::RunList.new(*(h["run_list"] || []))
          list << n
        end
        # A node is in the store from its first moment, at first with nothing but its name.
        if me && list.none? { |n| n.name == me.name }
          n = Chef::Node.new
          n.name(me.name)
          list << n
        end
        list
      end

      def data_of(o)
        case o
        when Chef::Node
          o.to_h.merge("name" => o.name, "chef_environment" => o.chef_environment, "run_list" => o.run_list.map(&:to_s),
            "role" => o.run_list.role_names, "recipe" => o.run_list.recipe_names, "roles" => o["roles"],
            "recipes" => o["recipes"])
        when DataBagItem then o.raw_data.to_hash
        when Chef::Role, Chef::Environment then { "name" => o.name, "description" => o.description }
        else o
        end
      end

      # Every path of a structure, as search indexes it: a_b_c and the bare last key.
      def flat(data)
        out = Hash.new { |h, k| h[k] = [] }
        walk = lambda do |v, path|
          case v
          when Hash then v.each { |k, x| walk.call(x, path + [k.to_s]) }
          when Array then v.each { |x| walk.call(x, path) }
          else
            next if path.empty?
            out[path.join("_")] << v.to_s
            out[path.last] << v.to_s if path.size > 1
          end
        end
        walk.call(data, [])
        out
      end
    end

    # The subset of the query language people write: terms, AND, OR, NOT, parentheses, wildcards, ranges.
    class Matcher
      # A field with a quoted value, with several, or with a range.
      FIELD = /[^\s():]+:(?:"[^"]*"|\([^)]*\)|[\[{][^\]}]*[\]}])/
      TOKEN = /\(|\)|\bAND\b|\bOR\b|\bNOT\b|&&|\|\||!|-(?=\w)|#{FIELD}|[^\s()]+/
      def initialize(query)
        @tokens = query.scan(TOKEN)
      end
      def match?(data)
        return true if @tokens.empty?
        @data, @i = data, 0
        either
      end
      def either
        v = both
        while ["OR", "||"].include?(@tokens[@i])
          @i += 1
          w = both
          v ||= w
        end
        v
      end
      def both
        v = unary
        while @i < @tokens.size && @tokens[@i] != ")" && !["OR", "||"].include?(@tokens[@i])
          @i += 1 if ["AND", "&&"].include?(@tokens[@i])
          w = unary
          v &&= w
        end
        v
      end
      def unary
        t = @tokens[@i]
        if ["NOT", "!", "-"].include?(t)
          @i += 1
          return !unary
        end
        if t == "("
          @i += 1
          v = either
          @i += 1
          return v
        end
        @i += 1
        term(t.to_s)
      end
      def term(t)
        field, value = t.split(":", 2)
        return @data.any? { |_, vs| vs.any? { |x| glob(field, x) } } if value.nil?
        return true if field == "*" && value == "*"
        value = value[1..-2] if value.start_with?('"')
        value = value.gsub(/\\(.)/, '\1')
        values = field == "*" ? @data.values.flatten :
          @data.select { |k, _| field.match?(/[*?]/) ? glob(field, k) : k == field }.values.flatten
        if value =~ /\A[\[{](\S+) TO (\S+)[\]}]\z/
          lo, hi = $1, $2
          return values.any? { |x| (lo == "*" || x >= lo) && (hi == "*" || x <= hi) }
        end
        return value[1..-2].split(/\s+OR\s+|\s+/).any? { |w| values.any? { |x| glob(w, x) } } if value.start_with?("(")
        values.any? { |x| glob(value, x) }
      end
      def glob(pattern, text)
        return pattern == text unless pattern.match?(/[*?]/)
        Regexp.new("\\A" + Regexp.escape(pattern).gsub("\\*", ".*").gsub("\\?", ".") + "\\z").match?(text)
      end
    end
  end
end
