# JSON as Chef's own helper offers it.
class Chef
  class JSONCompat
    class << self
      def parse(source, opts = {})
        return FX.parse_json(source) if opts.nil? || opts.empty?
        ::JSON.parse(source, opts)
      end
      def from_json(source, opts = {}) = parse(source, opts)
      def to_json(obj, opts = nil)
        obj.respond_to?(:for_json) ? ::JSON.generate(obj.for_json) : ::JSON.generate(plain(obj))
      end
      def to_json_pretty(obj, opts = nil) = pretty(plain(obj), "")
      # As yajl lays it out: an empty container takes three lines.
      def pretty(v, pad)
        deep = pad + "  "
        case v
        when Hash
          "{\n" + v.map { |k, x| "#{deep}#{::JSON.generate(k.to_s)}: #{pretty(x, deep)}" }.join(",\n") + "\n#{pad}}"
        when Array
          "[\n" + v.map { |x| deep + pretty(x, deep) }.join(",\n") + "\n#{pad}]"
        else ::JSON.generate(v)
        end
      end
      def plain(obj)
        case obj
        when Hash then obj.to_h.to_h { |k, v| [k, plain(v)] }
        when Array then obj.map { |v| plain(v) }
        else obj
        end
      end
    end
  end
end
