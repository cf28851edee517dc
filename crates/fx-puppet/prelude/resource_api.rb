# Types of the resource API: a table of attributes becomes a type.
module Puppet
  module ResourceApi
    DEFINITIONS = {}
    module BaseContext_; end
    class TypeDefinition
      attr_reader :definition
      def initialize(d) = @definition = d
      def name = @definition[:name]
      def attributes = @definition[:attributes]
      def feature?(f) = (@definition[:features] || []).include?(f)
      def namevars = attributes.select { |_, a| a[:behaviour] == :namevar }.keys
    end
    class SimpleProvider
      def set(context, changes)
        changes.each do |name, change|
          is = change[:is] || (get(context).find { |r| r[:name] == name })
          should = change[:should]
          ie, se = (is || {})[:ensure].to_s, (should || {})[:ensure].to_s
          if ie != "present" && se == "present" then create(context, name, should)
          elsif ie == "present" && se == "absent" then delete(context, name)
          elsif se == "present" then update(context, name, should)
          end
        end
      end
    end
    def self.register_type(definition)
      DEFINITIONS[definition[:name].to_s] = definition
      attributes = definition[:attributes]
      Puppet::Type.newtype(definition[:name].to_sym) do
        desc definition[:desc]
        attributes.each do |name, options|
          behaviour = options[:behaviour] || options[:behavior]
          case behaviour
          when :namevar
            newparam(name, namevar: true) { isnamevar }
          when :parameter
            newparam(name) { }
          else
            if name == :ensure
              newproperty(:ensure) { newvalue(:present); newvalue(:absent) }
            else
              newproperty(name, array_matching: :all) { }
            end
          end
          if options.key?(:default)
            d = options[:default]
            attrclass(name).defaultto { d } unless d.nil?
          end
        end
        pats = definition[:title_patterns]
        if pats
          define_singleton_method(:title_patterns) do
            pats.map { |p| [p[:pattern], p[:pattern].names.map { |n| [n.to_sym] }] }
          end
        elsif attributes.count { |_, o| (o[:behaviour] || o[:behavior]) == :namevar } > 1
          first = attributes.find { |_, o| (o[:behaviour] || o[:behavior]) == :namevar }.first
          define_singleton_method(:title_patterns) { [[/(.*)/m, [[first]]]] }
        end
        define_singleton_method(:type_definition) { TypeDefinition.new(definition) }
      end
    end
    def self.register_transport(*) = nil
    def self.load_provider(type) = nil
  end
end
