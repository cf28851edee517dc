# Search over local files, which have no index: every object is looked at.
class Chef
  class FxLocalSearch
    # The values that were asked for, by their paths.
    def self.pick(row, filter)
      data = data_of(row)
      filter.to_h do |name, path|
        [name.to_s, Array(path).inject(data) { |h, k| h.respond_to?(:[]) && !h.is_a?(String) ? h[k.to_s] : nil }]
      end
    end

    def self.data_of(o)
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

    def initialize(store) = @store = store

    def matching(type, query)
      matcher = begin
        Matcher.new(query.to_s).tap { |m| m.match?({}) }
      rescue StandardError
        Chef::FxMissing.raise('400 "Bad Request"', "the query #{query.to_s.inspect} cannot be read")
      end
      objects(type).select { |o| matcher.match?(flat(FxLocalSearch.data_of(o))) }
    end

    def objects(type)
      case type
      when "node" then nodes
      when "role" then names_in(:role_path).filter_map { |n| @store.role(n) }
      when "environment" then names_in(:environment_path).map { |n| @store.environment(n) }
      when "client" then []
      else
        unless @store.data_bags.key?(type)
          Chef::FxMissing.raise('404 "Not Found"', "there is no data bag #{type} in #{@store.bag_dirs.join(", ")}")
        end
        @store.data_bag(type).keys.map { |id| DataBagItem.load(type, id) }
      end
    end

    def names_in(key)
      dir = Array(Chef::Config[key]).first
      FX.names(dir.to_s).map { |f| f.sub(/\.(rb|json)\z/, "") }.uniq.sort
    end

    def nodes
      dir = Chef::Config.path_under("nodes")
      me = Chef.node
      files = FX.names(dir).select { |f| f.end_with?(".json") }
      list = files.map do |f|
        h = Chef::JSONCompat.parse(FX.read("#{dir}/#{f}"))
        Chef::Node.from_hash({ "name" => f.delete_suffix(".json") }.merge(h.compact))
      end
      # A node is in the store from its first moment, at first with nothing but its name.
      list << Chef::Node.from_hash("name" => me.name) if me && list.none? { |n| n.name == me.name }
      list
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
