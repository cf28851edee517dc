# Matchers about catalogs, functions and types.
module RSpec
  module Puppet
    class Matcher < RSpec::Matchers::Base
      def supports_block_expectations? = true
      def catalogue_of(actual) = actual.respond_to?(:call) ? actual.call : actual
    end

    # contain_file("/x").with_ensure("file").that_requires("Class[a]")
    class CreateGeneric < Matcher
      RELATIONS = { that_comes_before: [:before, "comes before"], that_requires: [:require, "requires"],
                    that_notifies: [:notify, "notifies"], that_subscribes_to: [:subscribe, "subscribes to"] }.freeze
      def initialize(type, args)
        @type, @title = type.to_s.split("__").map { |part| part[0].upcase + part[1..] }.join("::"), args.first.to_s
        # A class is named as it is written.
        @key = @type == "Class" ? Catalogue.type_name(@title) : @title
        @with, @without, @relations, @problems = {}, [], {}, []
      end
      def with(params = {})
        params.is_a?(Hash) ? @with.merge!(params.transform_keys(&:to_s)) : @with[params.to_s] = nil
        self
      end
      def only_with(params)
        @only = params.keys.map(&:to_s)
        with(params)
      end
      def without(*names)
        names.flatten.each do |one|
          one.is_a?(Hash) ? one.each { |key, value| @without << [key.to_s, value] } : @without << [one.to_s, nil]
        end
        self
      end
      RELATIONS.each_key do |name|
        define_method(name) { |*refs| tap { (@relations[name] ||= []).concat(refs.flatten) } }
      end
      def method_missing(name, *args)
        case name.to_s
        when /\Awith_(.+)\z/ then tap { @with[$1] = args.first }
        when /\Aonly_with_(.+)\z/ then tap { (@only ||= []) << $1; @with[$1] = args.first }
        when /\Awithout_(.+)\z/ then tap { @without << [$1, args.first] }
        else super
        end
      end
      def respond_to_missing?(name, priv = false) = name.to_s.match?(/\A(?:only_)?with(?:out)?_./) || super

      def matches?(actual)
        catalogue = catalogue_of(actual)
        resource = catalogue.resource(@type, @key)
        return false unless resource
        Coverage.cover!(resource)
        only(resource) if @only
        @with.each { |name, value| check(resource, name, value, true) }
        @without.each { |name, value| value.nil? ? unset(resource, name) : check(resource, name, value, false) }
        @relations.each { |name, refs| refs.each { |ref| relation(catalogue, resource, name, ref) } }
        @problems.empty?
      end
      def description
        words = ["contain #{@type}[#{@title}]"]
        if (name, refs = @relations.first)
          return "#{words.first} that #{RELATIONS[name].last} #{listed_refs(refs)}"
        end
        parts = @only ? ["exactly #{@only.size} parameters"] : []
        parts += @with.map { |key, value| words(key, value, "") }
        parts += @without.map { |key, value| words(key, value, "un") }
        return words.first if parts.empty?
        text = parts.size == 1 ? parts.first : "#{parts[0..-2].join(", ")} and #{parts.last}"
        "#{words.first} with #{text}"
      end
      def failure_message
        "expected that the catalogue would contain #{@type}[#{@title}]#{problems}"
      end
      def failure_message_when_negated = "expected that the catalogue would not contain #{@type}[#{@title}]#{problems}"

      private

      def problems = @problems.empty? ? "" : " with #{@problems.join(", and parameter ")}"
      def check(resource, name, value, wanted)
        matcher = ParameterMatcher.new(name, value, wanted)
        @problems.concat(matcher.errors) unless matcher.matches?(resource)
      end
      def unset(resource, name)
        @problems << "#{name} undefined but it is set to #{resource[name].inspect}" unless resource[name].nil?
      end
      def only(resource)
        count = (resource.given.keys - (["name", "path"] - @only)).size
        return if count == @only.size
        @problems << "exactly #{@only.size} parameters but the catalogue contains #{count}"
      end
      def relation(catalogue, resource, name, ref)
        other = catalogue.resource(ref.to_s)
        kind = RELATIONS[name].first
        pair = %i[before notify].include?(kind) ? [resource, other] : [other, resource]
        good = other && catalogue.before?(*pair)
        relates = name == :that_subscribes_to ? "is subscribed to" : RELATIONS[name].last
        @problems << "that #{relates} #{ref}" unless good
      end
      def listed_refs(refs) = refs.size == 1 ? refs.first : "#{refs[0..-2].join(", ")} and #{refs.last}"
      def words(key, value, un)
        return "#{key} #{un}defined" if value.nil?
        return "#{key} #{"not " unless un.empty?} supplied string" if key == "content" && value.is_a?(String)
        "#{key} #{un.empty? ? "=" : "!"}#{value.is_a?(Regexp) ? "~" : ">"} #{value.inspect}"
      end
    end

    class Compile < Matcher
      def initialize = @deps = false
      def with_all_deps = tap { @deps = true }
      def and_raise_error(error) = tap { @error = error }
      def matches?(actual)
        catalogue = catalogue_of(actual)
        if (circle = catalogue.cycle)
          @problem = "dependency cycles found: (#{[*circle, circle.first].map(&:ref).join(" => ")})\n"
        elsif @deps && (one, _, ref = catalogue.missing.first)
          @problem = "expected that the catalogue would include #{ref} used at #{one.file}:#{one.line} in #{one.ref}"
        end
        @problem.nil? && @error.nil?
      rescue ::Puppet::Error => e
        @problem = "error during compilation: #{e.message}"
        @error.is_a?(Regexp) ? @error.match?(e.message) : e.message == @error
      end
      def description
        case @error
        when nil then "compile into a catalogue without dependency cycles"
        when Regexp then "fail to compile and raise an error matching #{@error.inspect}"
        else "fail to compile and raise the error #{@error.inspect}"
        end
      end
      def failure_message = @problem || "expected that the catalogue would #{description}"
      def failure_message_when_negated
        "expected that the catalogue would #{@error ? "compile but it does not" : "not compile but it does"}"
      end
    end

    class CountGeneric < Matcher
      def initialize(type, count)
        @type = type && type.to_s.split("__").map { |part| part[0].upcase + part[1..] }.join("::")
        @count = count
      end
      LEFT_OUT = ["Class[main]", "Class[Main]", "Class[Settings]", "Stage[main]"].freeze
      def matches?(actual)
        all = catalogue_of(actual).resources.reject { |one| LEFT_OUT.include?(one.ref) }
        all = all.reject { |one| %w[Class Node].include?(one.type) } if @type.nil?
        all = all.select { |one| one.type == @type } if @type
        (@found = all.size) == @count
      end
      def description
        return "contain exactly #{@count} #{@count == 1 ? "class" : "classes"}" if @type == "Class"
        "contain exactly #{@count} #{"#{@type} " if @type}resource#{"s" unless @count == 1}"
      end
      def failure_message = "expected that the catalogue would #{description} but it contains #{@found}"
    end

    class AllowValue < Matcher
      def initialize(values) = @values = values
      def matches?(actual)
        @failed = @values.filter_map { |value| actual.accepts?(value).then { |good, why| [value, why] unless good } }
        @failed.empty?
      end
      def does_not_match?(actual) = @values.none? { |value| actual.accepts?(value).first }
      def description
        @values.size == 1 ? "match value #{@values.first.inspect}" : "match values #{@values.map(&:inspect).join(", ")}"
      end
      def failure_message
        "expected that the type alias would #{description} but it raised the error: #{@failed.map(&:last).join}"
      end
      def failure_message_when_negated = "expected that the type alias would not #{description} but it does"
    end

    module ManifestMatchers
      def compile = Compile.new
      def run = Run.new
      def be_valid_type = BeValidType.new
      def allow_value(*values) = AllowValue.new(values)
      alias allow_values allow_value
      def method_missing(name, *args, **named, &block)
        given = named.empty? ? args : [*args, named]
        case name.to_s
        when /\A(?:contain|create)_(.+)\z/ then CreateGeneric.new($1, given)
        when "have_resource_count" then CountGeneric.new(nil, args.first)
        when /\Ahave_(.+)_resource_count\z/ then CountGeneric.new($1, args.first)
        when "have_class_count" then CountGeneric.new("class", args.first)
        else super
        end
      end
      def respond_to_missing?(name, priv = false) = name.to_s.match?(/\A(?:contain|create)_./) || super
    end
  end
end
