# The type system as functions in Ruby see it, versions, and contexts of lookups.
module Puppet
  module Pops
    module Types
      class PAnyType
        def self.__wrap(handle)
          t = allocate
          t.instance_variable_set(:@__h, handle)
          t
        end
        attr_reader :__h
        def to_s = Puppet::Bridge.type_text(@__h)
        def inspect = to_s
        def to_alias_expanded_s = to_s
        def instance?(value, *) = Puppet::Bridge.type_instance?(@__h, value)
        def assignable?(other, *) = Puppet::Bridge.type_assignable?(@__h, other.__h)
        def ==(other) = other.is_a?(PAnyType) && to_s == other.to_s
        alias eql? ==
        def hash = to_s.hash
        def name = self.class.name.split("::").last.sub(/\AP(.*)Type\z/, '\1')
        def simple_name = name
        def generalize = self
        def create(*args) = Puppet::Bridge.call_function(0, "new", [self, *args], nil)
        def new(*args) = create(*args)
        def self.DEFAULT = DEFAULT
        def callable?(*) = true
        # Enumerations and ranges have members, behind whatever name.
        def method_missing(name, *args, &block)
          members = name == :each && args.empty? ? Puppet::Bridge.held_items(@__h) : nil
          members ? members.each(&block) : super
        end
        def respond_to_missing?(name, *) = name == :each && !Puppet::Bridge.held_items(@__h).nil?
      end
      %w[Scalar ScalarData Numeric Integer Float String Boolean Regexp Pattern Enum Array Hash Tuple Struct Collection
         Optional NotUndef Variant Undef Default Callable Runtime Iterable Iterator Type TypeAlias Data RichData
         Timestamp Timespan SemVer SemVerRange Binary URI Object TypeSet CatalogEntry TypeReference Init Unit Sensitive
         Class Resource].each do |n|
        const_set("P#{n}Type", Class.new(PAnyType))
      end
      PHostClassType = PClassType
      class PResourceType
        def type_name = Puppet::Bridge.type_part(@__h, "type_name")
        def title = Puppet::Bridge.type_part(@__h, "title")
        def resource_type = type_name
      end
      class PClassType
        def class_name = Puppet::Bridge.type_part(@__h, "title")
        def type_name = "Class"
        def title = class_name
      end
      class PSensitiveType
        class Sensitive
          def initialize(value) = @value = value
          # What is taken out is plain text, which the record has to hide by itself.
          def unwrap
            Puppet::Bridge.unwrapped(@value)
            @value
          end

          def to_s = "Sensitive [value redacted]"
          def inspect = "#<Sensitive [value redacted]>"
          def hash = @value.hash
          def ==(other) = other.is_a?(Sensitive) && other.instance_variable_get(:@value) == @value
          alias eql? ==
        end
      end
      class PBinaryType
        class Binary
          attr_reader :binary_buffer
          def initialize(bytes) = @binary_buffer = bytes
          def self.from_binary_string(s) = new(s)
          def self.from_string(s) = new(s)
          def self.from_base64(s) = new(Base64.decode64(s))
          def to_s = Base64.strict_encode64(@binary_buffer)
          def length = @binary_buffer.bytesize
        end
      end
      # A value of the language that has no better form in Ruby.
      class Opaque
        attr_reader :__h
        def self.__wrap(handle)
          t = allocate
          t.instance_variable_set(:@__h, handle)
          t
        end
        def to_s = Puppet::Bridge.held_text(@__h)
        def inspect = to_s
        def ==(other) = other.is_a?(Opaque) && to_s == other.to_s
        alias eql? ==
        def hash = to_s.hash
        def method_missing(name, *args) = Puppet::Bridge.held_call(@__h, name.to_s, args)
        def respond_to_missing?(*) = false
      end
      class Timestamp_; end
      module TypeFactory
        def self.__t(text) = Puppet::Bridge.type_from(text)
        { any: "Any", string: "String", integer: "Integer", float: "Float", numeric: "Numeric", boolean: "Boolean",
          scalar: "Scalar", data: "Data", rich_data: "RichData", undef: "Undef", default: "Default", regexp: "Regexp",
          collection: "Collection", catalog_entry: "CatalogEntry", array_of_data: "Array", array_of_any: "Array",
          hash_of_data: "Hash", hash_of_any: "Hash" }.each { |m, t| define_singleton_method(m) { |*| __t(t) } }
        def self.array_of(t, *) = __t("Array[#{t}]")
        def self.hash_of(v, k = "Scalar", *) = __t("Hash[#{k}, #{v}]")
        def self.optional(t) = __t("Optional[#{t}]")
        def self.variant(*ts) = __t("Variant[#{ts.join(", ")}]")
        def self.enum(*vs) = __t("Enum[#{vs.map(&:inspect).join(", ")}]")
        def self.type_of(x) = TypeCalculator.infer(x)
        def self.host_class(n = nil) = __t(n ? "Class[#{n}]" : "Class")
        def self.resource(n = nil, t = nil) = __t(n ? (t ? "#{n}[#{t.inspect}]" : n.to_s) : "Resource")
        def self.method_missing(name, *) = raise(Puppet::Error, "TypeFactory.#{name} is not supported")
      end
      class TypeCalculator
        def self.singleton = @singleton ||= new
        def self.infer(v) = Puppet::Bridge.type_of(v, "reduced")
        def self.infer_set(v) = Puppet::Bridge.type_of(v, "detailed")
        def self.generalize(t) = t
        def self.instance?(t, v) = t.instance?(v)
        def self.assignable?(a, b) = a.assignable?(b)
        def self.debug_string(t) = t.to_s
        def infer(v) = self.class.infer(v)
        def infer_set(v) = self.class.infer_set(v)
        def instance?(t, v) = t.instance?(v)
        def assignable?(a, b) = a.assignable?(b)
        def generalize(t) = t
        def string(t) = t.to_s
        def debug_string(t) = t.to_s
        def callable?(*) = true
        def enumerable(t) = t
      end
      class TypeParser
        def self.singleton = @singleton ||= new
        def parse(text, *) = Puppet::Bridge.type_from(text)
        def self.parse(text, *) = Puppet::Bridge.type_from(text)
      end
      class TypeFormatter
        def self.singleton = @singleton ||= new
        def string(t) = t.to_s
        def capitalize_segments(s) = s.split("::").map(&:capitalize).join("::")
      end
      class StringConverter
        def self.singleton = @singleton ||= new
        def self.convert(v, f = :default) = singleton.convert(v, f)
        def convert(v, format = :default)
          Puppet::Bridge.call_function(0, "String", [v, *(format == :default ? [] : [format])], nil)
        end
      end
      module TypeAsserter
        def self.assert_instance_of(subject, type, value, nil_ok = false, &b)
          return value if (value.nil? && nil_ok) || type.instance?(value)
          raise Puppet::Error, Puppet::Bridge.mismatch(subject.to_s, type.__h, value)
        end
      end
      class TypeMismatchDescriber
        def self.singleton = @singleton ||= new
        def describe_mismatch(name, expected, actual, *)
          Puppet::Bridge.mismatch_types(name.to_s, expected.__h, actual.__h)
        end
        def self.describe_mismatch(*a) = singleton.describe_mismatch(*a)
        def self.validate_parameters(*) = nil
      end
      class Iterable
        def self.on(o, *) = o
        def self.asserted_iterable(_caller, o, *) = o
      end
    end
    module Parser
      class EvaluatingParser
        def self.singleton = new
        def evaluate_string(scope, text, *)
          Puppet::Bridge.evaluate(scope.respond_to?(:__number) ? scope.__number : 0, text)
        end
        def parse_string(text, *) = text
      end
    end
    module Evaluator
      class DeferredValue; end
      class EppEvaluator
        def self.epp(scope, file, _env = nil, args = {})
          Puppet::Bridge.call_function(scope.__number, "epp", [file, args], nil)
        end
        def self.inline_epp(scope, source, args = {})
          Puppet::Bridge.call_function(scope.__number, "inline_epp", [source, args], nil)
        end
      end
      class EvaluatorImpl; end
      module Runtime3ResourceSupport
        def self.find_resource_type(_scope, name)
          Puppet::Type.type(name) || Puppet::Resource::TypeCollection.new.find_definition(name)
        end
        def self.find_resource_type_or_class(scope, name)
          find_resource_type(scope, name) || Puppet::Resource::TypeCollection.new.find_hostclass(name)
        end
      end
      class Closure; end
    end
    module PuppetStack
      def self.stacktrace = Puppet::Bridge.stack
      def self.top_of_stack = stacktrace.first || []
    end
    module Model
      class AstRedirected; end
    end
    module Lookup
      class Invocation
        attr_reader :scope
        def initialize(scope, *) = @scope = scope
      end
      def self.lookup(name, _type, default, has_default, _merge, invocation)
        args = [name]
        args << nil << nil << default if has_default
        Puppet::Bridge.call_function(invocation.scope.__number, "lookup", args, nil)
      end
      def self.search_and_merge(name, invocation, merge, *)
        Puppet::Bridge.call_function(invocation.scope.__number, "lookup", [name, nil, merge], nil)
      end
      class Context; end
    end
    class Loaders
      def private_environment_loader = Loader.new
      def public_environment_loader = Loader.new
      def puppet_system_loader = Loader.new
      def find_loader(*) = Loader.new
    end
    class Loader
      def load(kind, name)
        case kind
        when :function then Puppet::Bridge.function?(name.to_s) ? CallableFunction.new(name.to_s) : nil
        when :type then (Puppet::Bridge.type_from(name.to_s.split("::").map(&:capitalize).join("::")) rescue nil)
        end
      end
    end
    CallableFunction = Struct.new(:name) do
      def call(scope, *args, &b) = Puppet::Bridge.call_function(scope.__number, name, args, b)
    end
    module Issues
      Issue = Struct.new(:issue_code) do
        def format(args = {}) = "#{issue_code} #{args}"
      end
      def self.const_missing(name) = const_set(name, Issue.new(name))
    end
    module Serialization
      class ToDataConverter
        def self.convert(v, *) = v
      end
      class FromDataConverter
        def self.convert(v, *) = v
      end
      module ToStringifiedConverter; end
    end
    module Time
      Timestamp = Types::Opaque
      Timespan = Types::Opaque
    end
    module Utils
      def self.to_n(s) = (Integer(s) rescue Float(s) rescue nil)
      def self.name_to_segments(n) = n.split("::")
    end
    module Adapters; end
    module Resource
      class ResourceTypeImpl; end
    end
    module Validation; end
    module Puppet3_; end
  end
  class LookupContext
    def initialize(number = nil) = @number = number
    NOT_FOUND = Object.new
    MISSING = Object.new
    def not_found = throw(:no_such_key, MISSING)
    def interpolate(value) = Puppet::Bridge.interpolate(value)
    def environment_name = Puppet::Bridge.setting("environment")
    def module_name = nil
    def explain = nil
    CACHE = {}
    def own = (CACHE[@number] ||= {})
    def cache(k, v) = (own[k] = v)
    def cache_all(h) = (own.update(h); nil)
    def cache_has_key(k) = own.key?(k)
    def cached_value(k) = own[k]
    def cached_entries(&b) = b ? (own.each(&b); nil) : own
    def cached_file_data(path) = block_given? ? yield(File.read(path)) : File.read(path)
  end
end
module SemanticPuppet
  class ValidationFailure < ArgumentError; end
  class Version
    include Comparable
    ValidationFailure = SemanticPuppet::ValidationFailure
    attr_reader :major, :minor, :patch, :prerelease, :build
    def self.parse(s)
      m = /\A(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?\z/.match(s.to_s)
      raise ValidationFailure, "Unable to parse '#{s}' as a semantic version identifier" unless m
      new(m[1].to_i, m[2].to_i, m[3].to_i, m[4], m[5])
    end
    def self.valid?(s) = s.to_s.match?(/\A\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\z/)
    def initialize(major, minor, patch, prerelease = nil, build = nil)
      @major, @minor, @patch, @prerelease, @build = major, minor, patch, prerelease, build
    end
    def stable? = @prerelease.nil?
    def to_s = "#{major}.#{minor}.#{patch}#{"-#{prerelease}" if prerelease}#{"+#{build}" if build}"
    def <=>(other)
      o = other.is_a?(Version) ? other : Version.parse(other)
      c = [major, minor, patch] <=> [o.major, o.minor, o.patch]
      return c unless c == 0
      return 0 if prerelease == o.prerelease
      return 1 if prerelease.nil?
      return -1 if o.prerelease.nil?
      a, b = prerelease.split("."), o.prerelease.split(".")
      a.zip(b).each do |x, y|
        return 1 if y.nil?
        next if x == y
        xi, yi = x.match?(/\A\d+\z/), y.match?(/\A\d+\z/)
        return (xi && yi ? x.to_i <=> y.to_i : xi ? -1 : yi ? 1 : x <=> y)
      end
      a.size <=> b.size
    end
    def hash = to_s.hash
    def eql?(o) = o.is_a?(Version) && to_s == o.to_s
  end
  class VersionRange
    def self.parse(s) = new(s)
    def initialize(s) = @s = s
    def include?(v) = Puppet::Bridge.in_range(@s, v.to_s)
    alias cover? include?
    alias === include?
    def to_s = @s
  end
end
