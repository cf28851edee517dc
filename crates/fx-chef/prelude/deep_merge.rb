# Merging hashes and lists of attributes.
class Chef
  module Mixin
    module DeepMerge
      class InvalidParameter < StandardError; end
      def self.merge(first, second) = deep_merge(second, first.dup)
      def merge(first, second) = DeepMerge.merge(first, second)
      # The first argument wins; arrays are united.
      def self.deep_merge(source, dest)
        return source if dest.nil?
        return dest if source.nil?
        if source.is_a?(Hash) && dest.is_a?(Hash)
          out = dest.dup
          source.each { |k, v| out[k] = out.key?(k) ? deep_merge(v, out[k]) : v }
          out
        elsif source.is_a?(Array) && dest.is_a?(Array)
          dest | source
        else
          source
        end
      end
      def self.deep_merge!(source, dest) = dest.replace(deep_merge(source, dest))
      def deep_merge(source, dest) = DeepMerge.deep_merge(source, dest)
      def self.hash_only_merge(onto, with)
        return with unless onto.is_a?(Hash) && with.is_a?(Hash)
        out = onto.dup
        with.each { |k, v| out[k] = out.key?(k) ? hash_only_merge(out[k], v) : v }
        out
      end
      def hash_only_merge(a, b) = DeepMerge.hash_only_merge(a, b)
      # Later roles win over earlier ones.
      def self.role_merge(role, sofar)
        deep_merge(role, sofar)
      end
    end
  end
end
