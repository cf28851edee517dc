# A hash whose symbol keys are text.
module ChefUtils
  class Mash < Hash
    def initialize(constructor = nil, &block)
      if constructor.is_a?(Mash)
        super(constructor.default)
        constructor.each { |k, v| regular_writer(k, v) }
      elsif constructor.is_a?(Hash)
        super()
        update(constructor)
      elsif block
        super(&block)
      elsif constructor.nil?
        super()
      else
        super(constructor)
      end
    end

    class << self
      def [](*args)
        m = new
        (args.size == 1 && args[0].is_a?(Hash) ? args[0] : Hash[*args]).each { |k, v| m[k] = v }
        m
      end

      def from_hash(hash)
        mash = new(hash)
        mash.default = hash.default
        mash
      end
    end

    def initialize_copy(orig)
      super
      each { |k, v| regular_writer(k, v.is_a?(Mash) || v.is_a?(Array) ? v.dup : v) }
    end

    def default(key = nil)
      if key.is_a?(Symbol) && key?(key = key.to_s)
        self[key]
      else
        super
      end
    end

    alias regular_writer []=
    alias regular_reader []
    alias regular_update update

    def [](key)
      regular_reader(key.is_a?(Symbol) ? key.name : key)
    end

    def []=(key, value)
      regular_writer(key.is_a?(Symbol) ? key.name : key, convert_value(value))
    end
    alias store []=

    def internal_get(key) = regular_reader(convert_key(key))
    def internal_set(key, value) = regular_writer(convert_key(key), convert_value(value))

    def update(other)
      other.each_pair { |k, v| regular_writer(convert_key(k), convert_value(v)) }
      self
    end
    alias merge! update

    def key?(key)
      super(key.is_a?(Symbol) ? key.name : key)
    end
    alias include? key?
    alias has_key? key?
    alias member? key?

    def fetch(key, *extras, &block)
      super(convert_key(key), *extras, &block)
    end

    def values_at(*keys) = keys.map { |k| self[k] }
    def dig(key, *rest)
      v = self[key]
      rest.empty? || v.nil? ? v : v.dig(*rest)
    end

    def merge(hash, &block)
      return dup.update_with(hash, &block) if block
      dup.update(hash)
    end

    def update_with(hash)
      hash.each do |k, v|
        self[k] = key?(k) ? yield(convert_key(k), self[k], v) : v
      end
      self
    end

    def delete(key, &block)
      super(convert_key(key), &block)
    end

    def except(*keys)
      h = dup
      keys.each { |k| h.delete(k) }
      h
    end

    def symbolize_keys
      h = {}
      each { |k, v| h[k.respond_to?(:to_sym) ? k.to_sym : k] = v }
      h
    end

    def stringify_keys! = self

    def to_hash
      h = {}
      each { |k, v| h[k] = Mash.plain(v) }
      h
    end
    alias to_h to_hash

    def self.plain(v)
      case v
      when Mash then v.to_hash
      when Array then v.map { |x| plain(x) }
      else v
      end
    end

    def self.from_deep(value)
      case value
      when Hash then new(value)
      when Array then value.map { |x| from_deep(x) }
      else value
      end
    end

    protected

    def convert_key(key)
      key.is_a?(Symbol) ? key.name : key
    end

    def convert_value(value)
      if value.instance_of?(Hash) || (value.is_a?(Hash) && !value.is_a?(Mash))
        Mash.from_hash(value)
      elsif value.is_a?(Array)
        value.collect { |e| convert_value(e) }
      else
        value
      end
    end
  end
end
Mash = ChefUtils::Mash unless Object.const_defined?(:Mash) && !Object.autoload?(:Mash)
class Chef
  Mash = ChefUtils::Mash
end
