# JSON as Chef's own helper offers it.
require "json"
class Chef
  class JSONCompat
    class << self
      def parse(source, opts = {})
        ::JSON.parse(source, opts || {})
      rescue ::JSON::ParserError => e
        raise Chef::Exceptions::JSON::ParseError, e.message
      end
      def from_json(source, opts = {}) = parse(source, opts)
      def to_json(obj, opts = nil) = obj.respond_to?(:for_json) ? ::JSON.generate(obj.for_json) : ::JSON.generate(plain(obj))
      def to_json_pretty(obj, opts = nil) = ::JSON.pretty_generate(plain(obj))
      def plain(obj)
        case obj
        when Hash then obj.to_h.to_h { |k, v| [k, plain(v)] }
        when Array then obj.map { |v| plain(v) }
        else obj
        end
      end
    end
  end
  class Exceptions
    class JSON
      class EncodeError < RuntimeError; end
      class ParseError < RuntimeError; end
    end
  end
end
