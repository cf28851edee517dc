# Properties of types written in Ruby: what is, what should be, and how one becomes the other.
module Puppet
  class Property < Parameter
    class << self
      attr_accessor :array_matching
      def array_matching=(v)
        @array_matching = v.to_s.to_sym
      end
      def array_matching
        @array_matching || (superclass.respond_to?(:array_matching) ? superclass.array_matching : :first)
      end
    end
    def value = should
    def value=(v)
      self.should = v
    end
    def should=(values)
      values = [values] unless values.is_a?(Array)
      @shouldorig = values
      values.each { |v| validate(v) }
      @should = values.map { |v| munge(v) }
    end
    attr_reader :shouldorig
    def should
      return nil if @should.nil?
      self.class.array_matching == :all ? @should.map { |x| unmunge(x) } : unmunge(@should.first)
    end
    def shouldorig = @shouldorig
    def match_all? = self.class.array_matching == :all
    def retrieve = provider.send(self.class.name)
    def safe_insync?(is) = insync?(is)
    def insync?(is)
      return true if @should.nil? || @should.empty?
      if match_all?
        return false unless is.is_a?(Array)
        return false unless is.length == @should.length
        return is.zip(@should).all? { |a, b| property_matches?(a, b) }
      end
      @should.any? { |s| property_matches?(is, s) }
    end
    def property_matches?(current, desired) = current == desired || current.to_s == desired.to_s
    def set(value)
      m = self.class.value_methods.find { |k, _| k.is_a?(Regexp) ? k.match?(value.to_s) : k.to_s == value.to_s }
      return send(m[1]) if m
      setter = :"#{self.class.name}="
      unless provider.respond_to?(setter)
        fail "The #{provider.class.name} provider can not handle attribute #{self.class.name}"
      end
      provider.send(setter, value)
    end
    def sync
      devfail "#{self.class.name} got no value" if @should.nil?
      set(should)
    end
    def change_to_s(current, newvalue)
      if current == :absent
        "defined '#{name}' as #{should_to_s(newvalue)}"
      elsif newvalue == :absent || newvalue == [:absent]
        "undefined '#{name}' from #{is_to_s(current)}"
      else
        "#{name} changed #{is_to_s(current)} to #{should_to_s(newvalue)}"
      end
    end
    def insync_values?(a, b) = property_matches?(a, b)
    def event_name = nil
    class Boolean < Property
      def unsafe_munge(v) = Parameter::Boolean.new.unsafe_munge(v)
    end
    # Several values written as one text; which others may stay is the membership's to say.
    class List < Property
      self.array_matching = :all
      def membership = :membership
      def delimiter = ","
      def inclusive? = resource[membership] == :inclusive
      def is_to_s(is) = is.is_a?(Array) ? is.join(delimiter) : super
      def add_should_with_current(should, current) = current.is_a?(Array) ? (should + current).uniq : should.uniq
      def dearrayify(a) = a.sort.join(delimiter)
      def should
        return nil unless @should
        dearrayify(inclusive? ? @should : add_should_with_current(@should, retrieve))
      end
      def retrieve
        is = provider && provider.send(name)
        is.nil? || is == :absent ? :absent : is.is_a?(Array) ? is : is.split(delimiter)
      end
      def prepare_is_for_comparison(is) = dearrayify(is == :absent ? [] : is)
      def insync?(is) = is.nil? || prepare_is_for_comparison(is) == should
    end
    class OrderedList < List
      def add_should_with_current(should, current) = current.is_a?(Array) ? should + (current - should) : should
      def dearrayify(a) = a.join(delimiter)
    end
    # Pairs written as one text each.
    class KeyValue < Property
      self.array_matching = :all
      def delimiter = ";"
      def separator = "="
      def membership = :key_membership
      def inclusive? = resource[membership] == :inclusive
      def hash_to_key_value_s(hash) = hash.map { |k, v| "#{k}#{separator}#{v}" }.join(delimiter)
      def hashify(pairs)
        Array(pairs).to_h do |pair|
          pair.is_a?(Array) ? pair : pair.to_s.split(separator, 2).then { |k, v| [k.to_sym, v] }
        end
      end
      def should
        return nil unless @should
        wanted = @should.first.is_a?(Hash) ? @should.first.transform_keys { |k| k.to_s.to_sym } : hashify(@should)
        inclusive? ? wanted : hashify_current.merge(wanted)
      end
      def hashify_current = (is = retrieve).is_a?(Hash) ? is.transform_keys { |k| k.to_s.to_sym } : {}
      def retrieve
        is = provider && provider.send(name)
        is.nil? || is == :absent ? :absent : is.is_a?(Hash) ? is : hashify(is.split(delimiter))
      end
      def insync?(is) = is.nil? || (is == :absent ? {} : is) == should
    end
    class Ensure < Property
      def self.defaultvalues
        newvalue(:present) { provider.create }
        newvalue(:absent) { provider.destroy }
        defaultto { resource.managed? ? :present : nil }
      end
      def self.inherited(sub)
        super
        sub.name = :ensure
        sub.desc("The basic property that the resource should be in.")
      end
      def change_to_s(current, newvalue)
        return "created" if current == :absent || current.nil?
        return "removed" if newvalue == :absent
        "#{name} changed #{is_to_s(current)} to #{should_to_s(newvalue)}"
      end
      def retrieve
        # Looking may take long: it is done once.
        if provider && provider.respond_to?(:exists?) then provider.exists? ? :present : :absent
        elsif resource.respond_to?(:exists?) then resource.exists? ? :present : :absent
        elsif provider && provider.respond_to?(:properties) then provider.properties[:ensure] || :absent
        else :absent
        end
      end
    end
  end
end
