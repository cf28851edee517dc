# Attribute containers: writable per level, read-only when merged.
class Chef
  class Node
    # Arrays and hashes that belong to one level; a write forgets what was merged.
    class AttrArray < Array
      MUTATORS = %i{<< []= clear collect! compact! concat delete delete_at delete_if fill flatten! insert keep_if map!
        pop push append prepend
        reject! reverse! rotate! replace select! shift shuffle! slice! sort! sort_by! uniq! unshift}.freeze
      def __fx_bind(store, top)
        @store, @top = store, top
        self
      end
      MUTATORS.each do |m|
        define_method(m) do |*args, &block|
          ret = super(*args, &block)
          @store.reset_cache(@top) if @store
          ret
        end
      end
      def dup = Array.new(map { |e| e.is_a?(Array) || e.is_a?(Hash) ? e.dup : e })
      def to_a = Array.new(self)
      def to_ary = self
    end

    class VividMash < ChefUtils::Mash
      def __fx_bind(store, top)
        @store, @top = store, top
        self
      end

      def [](key)
        key = key.name if key.is_a?(Symbol)
        value = regular_reader(key)
        if value.nil? && !key?(key)
          value = VividMash.new.__fx_bind(@store, @top || key)
          regular_writer(key, value)
          @store.reset_cache(@top || key) if @store
        end
        value
      end

      def []=(key, value)
        key = key.name if key.is_a?(Symbol)
        top = @top || key
        if value.is_a?(Hash) || value.is_a?(Array)
          value = convert_for(value, top)
        elsif value.is_a?(String) && !value.frozen?
          value = value.dup
        end
        regular_writer(key, value)
        @store.reset_cache(top) if @store
        value
      end
      alias store []=

      # A copy that belongs to this level.
      def convert_for(value, top) = FX.vivid(value, @store, top)

      def convert_value(value) = convert_for(value, @top)
      def attribute?(key) = key?(key)

      def update(other)
        other.each_pair { |k, v| self[k] = v }
        self
      end
      alias merge! update

      def read(*path)
        path.inject(self) do |o, k|
          o.respond_to?(:regular_reader) ? o.regular_reader(k.is_a?(Symbol) ? k.name : k) : (return nil)
        end
      end
      def exist?(*path)
        o = self
        path.each do |k|
          return false unless o.is_a?(Hash) && o.key?(k)
          o = o.regular_reader(k.is_a?(Symbol) ? k.name : k)
        end
        true
      end
      def write(*path, last, value)
        o = self
        path.each { |k| o[k] = {} unless o.key?(k) && o[k].is_a?(Hash); o = o[k] }
        o[last] = value
      end
      def write!(*path, last, value)
        o = self
        path.each do |k|
          raise Chef::Exceptions::AttributeTypeMismatch unless o.is_a?(Hash)
          o = o[k]
        end
        raise Chef::Exceptions::AttributeTypeMismatch unless o.is_a?(Hash)
        o[last] = value
      end
      def unlink(*path, last)
        o = path.empty? ? self : read(*path)
        o.is_a?(Hash) ? o.delete(last) : nil
      end
      def unlink!(*path, last)
        o = path.empty? ? self : read(*path)
        raise Chef::Exceptions::NoSuchAttribute unless o.is_a?(Hash) && o.key?(last)
        o.delete(last)
      end

      %i{clear delete_if keep_if reject! replace select! shift compact!}.each do |m|
        define_method(m) do |*args, &block|
          ret = super(*args, &block)
          reset
          ret
        end
      end
      def delete(key, &block)
        ret = super
        reset(key)
        ret
      end
      def reset(key = nil)
        @store.reset_cache(@top) if @store
      end
      def dup = ChefUtils::Mash.new(self)
      def inspect = to_hash.inspect
      def to_s = inspect
    end

    module Immutable
      def self.refuse(mod, names)
        names.each do |n|
          mod.define_method(n) { |*_, **_k, &_b| raise Chef::Exceptions::ImmutableAttributeModification }
        end
      end
      def self.plain(v)
        if v.is_a?(Hash)
          h = {}
          v.each_pair { |k, x| h[k] = plain(x) }
          h
        elsif v.is_a?(Array)
          v.map { |x| plain(x) }.to_a
        elsif v.is_a?(String)
          v.frozen? ? v.dup : v
        else
          v
        end
      end
    end

    class ImmutableMash < ChefUtils::Mash
      Immutable.refuse(self,
        %i{[]= store clear collect! default= default_proc= delete delete_if keep_if merge! update reject! replace
        select! shift compact! rehash write write! unlink unlink! transform_values! transform_keys!})
      def to_h = Immutable.plain(self)
      alias to_hash to_h
      def attribute?(key) = key?(key)
      def dup
        m = ChefUtils::Mash.new
        each_pair { |k, v| m.regular_writer(k, v.is_a?(Hash) || v.is_a?(Array) ? v.dup : v) }
        m
      end
      def merge(*others)
        m = dup
        others.each { |o| m.update(o) }
        m
      end
      def select(&b) = to_enum_hash.select(&b)
      def reject(&b) = to_enum_hash.reject(&b)
      def filter(&b) = to_enum_hash.select(&b)
      def transform_values(&b) = to_enum_hash.transform_values(&b)
      def transform_keys(*a, &b) = to_enum_hash.transform_keys(*a, &b)
      def compact = to_enum_hash.compact
      def slice(*keys) = to_enum_hash.slice(*keys.map { |k| k.is_a?(Symbol) ? k.name : k })
      def except(*keys) = to_enum_hash.except(*keys.map { |k| k.is_a?(Symbol) ? k.name : k })
      def sort_by(&b) = to_enum_hash.sort_by(&b)
      def to_enum_hash
        h = {}
        each_pair { |k, v| h[k] = v }
        h
      end
      def inspect = Immutable.plain(self).inspect
      def to_s = inspect
      def to_yaml(*a) = to_h.to_yaml(*a)
      def to_json(*a) = to_h.to_json(*a)
      def read(*path)
        path.inject(self) do |o, k|
          o.nil? ? (return nil) : (o.is_a?(Hash) || (o.is_a?(Array) && k.is_a?(Integer)) ? o[k] : (return nil))
        end
      end
      def read!(*path)
        raise Chef::Exceptions::NoSuchAttribute unless exist?(*path)
        read(*path)
      end
      def exist?(*path)
        o = self
        path.each do |k|
          return false unless o.is_a?(Hash) && o.key?(k)
          o = o[k]
        end
        true
      end
      def method_missing(name, *args)
        raise NoMethodError, "undefined method `#{name}' for #{inspect}:Chef::Node::ImmutableMash"
      end
    end

    class ImmutableArray < Array
      Immutable.refuse(self, AttrArray::MUTATORS + %i{collect! filter!} - %i{slice! fill} + %i{slice! fill})
      def to_a = map { |x| Immutable.plain(x) }
      def to_array = to_a
      def dup = Array.new(map { |e| e.is_a?(Array) || e.is_a?(Hash) ? e.dup : e })
      def inspect = Immutable.plain(self).inspect
      def to_s = inspect
      def to_yaml(*a) = to_a.to_yaml(*a)
      def to_json(*a) = to_a.to_json(*a)
      def to_ary = self
    end
  end
end
