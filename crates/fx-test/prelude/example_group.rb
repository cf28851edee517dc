# A group of examples is a class; a nested group inherits from the one around it.
module RSpec
  module Core
    class ExampleGroup
      class << self
        attr_reader :metadata, :children, :examples, :hooks, :parent_group, :number

        def describe(*args, &block) = subgroup(args, block)
        alias context describe
        alias example_group describe
        def fdescribe(*args, &block) = subgroup(args, block, focus: true)
        alias fcontext fdescribe
        def xdescribe(*args, &block) = subgroup(args, block, skip: "Temporarily skipped with xdescribe")
        def xcontext(*args, &block) = subgroup(args, block, skip: "Temporarily skipped with xcontext")

        EXTRA = { it: {}, example: {}, specify: {}, fit: { focus: true }, fexample: { focus: true },
                  xit: { skip: "Temporarily skipped with xit" },
                  xspecify: { skip: "Temporarily skipped with xspecify" },
                  xexample: { skip: "Temporarily skipped with xexample" }, skip: { skip: true },
                  pending: { pending: true } }.freeze
        EXTRA.each do |name, extra|
          define_method(name) { |*args, &block| add_example(args, block, extra) }
        end

        def let(name, &block)
          raise "#let or #subject called without a block" unless block
          values.define_method(name, &block)
          # A block with a parameter gets the example.
          return define_method(name) { __memoized(name) { super(RSpec.current_example) } } if block.arity == 1
          define_method(name) { __memoized(name) { super() } }
        end
        def let!(name, &block)
          let(name, &block)
          before { __send__(name) }
        end
        def subject(name = nil, &block)
          let(:subject, &block)
          define_method(name) { subject } if name && name != :subject
        end
        def subject!(name = nil, &block)
          subject(name, &block)
          before { subject }
        end

        def before(*args, &block) = hooks.add(:before, args, block)
        def prepend_before(*args, &block) = hooks.add(:before, args, block, first: true)
        def after(*args, &block) = hooks.add(:after, args, block, first: true)
        def append_after(*args, &block) = hooks.add(:after, args, block)
        def around(*args, &block) = hooks.add(:around, args, block)
        alias append_before before
        alias prepend_after after

        def shared_examples(title, *args, &block) = RSpec.world.shared.add(self, title, args, block)
        alias shared_context shared_examples
        alias shared_examples_for shared_examples
        def include_examples(title, *args, &block)
          found = shared(title)
          module_exec(*args, &found.block) if found.block
          # What is given with it has the last word.
          module_exec(&block) if block
        end
        alias include_context include_examples
        def it_behaves_like(title, *args, &block)
          found = shared(title)
          subgroup(["behaves like #{title}", found.metadata], nil, {}, caller_line) do |group|
            group.module_exec(*args, &found.block) if found.block
            group.module_exec(&block) if block
          end
        end
        alias it_should_behave_like it_behaves_like

        # rspec-its: an example about a part of the subject.
        def its(part, *options, &block)
          subgroup([part.to_s], nil, {}, caller_line) do |group|
            group.let(:__its) do
              next subject[*part] if part.is_a?(Array)
              part.to_s.split(".").inject(subject) { |value, name| value.public_send(name) }
            end
            group.define_method(:is_expected) { expect(__its) }
            group.alias_method(:are_expected, :is_expected)
            group.define_method(:should) { |matcher = nil, message = nil| expect(__its).to(matcher, message) }
            group.define_method(:should_not) { |matcher = nil, message = nil| expect(__its).not_to(matcher, message) }
            group.add_example([nil, *options].compact, block, {})
          end
        end
        # A matcher of the spec's own.
        def define(name, &block) = RSpec::Matchers.define(name, &block)
        # Its place in its file, by numbers.
        def id = @id ||= "#{parent_groups.last.file_path}[#{parent_groups.reverse.map(&:number).join(":")}]"
        def described_class = metadata[:described_class]
        def description = metadata[:description]
        def file_path = metadata[:file_path]
        def parent_groups = @fx_parent_groups ||= self < ExampleGroup ? [self, *superclass.parent_groups].freeze : []
        def top_level? = superclass == ExampleGroup
        def all_examples = examples + children.flat_map(&:all_examples)
        def descendants = [self] + children.flat_map(&:descendants)
        def add_example(args, block, extra = {})
          example = Example.new(self, args, block, extra, caller_line)
          examples << example
          example
        end

        # A module of the configuration that means this group.
        def bring_in(included)
          return unless Metadata.matches?(included.filter, metadata)
          case included.how
          when :include then include(included.mod) unless include?(included.mod)
          when :extend then extend(included.mod)
          when :prepend then prepend(included.mod)
          when :context then take(included.mod)
          end
        end

        # Examples and groups are numbered together, as they are written.
        def next_number = @numbers = @numbers.to_i + 1

        def set_up(parent, args, extra, line)
          @parent_group, @children, @examples, @hooks = parent, [], [], Hooks.new
          @number = parent ? parent.next_number : RSpec.world.next_number(line.first)
          @metadata = make_metadata(args, extra, line)
          Metadata.derive(@metadata)
          RSpec.configuration.included.each { |one| bring_in(one) }
          RSpec.world.shared.each_of_main do |shared|
            next if shared.metadata.empty? || !Metadata.matches_any?(shared.metadata, @metadata)
            take(shared)
          end
        end
        # What metadata brings comes once: groups inside have it from the group around them.
        def take(shared)
          return if shared&.block.nil? || took?(shared)
          (@taken ||= []) << shared
          module_exec(&shared.block)
        end
        def took?(shared) = !!@taken&.include?(shared) || !!parent_group&.took?(shared)

        private

        def subgroup(args, block, extra = {}, line = caller_line)
          parent = self == ExampleGroup ? nil : self
          group = Class.new(self)
          name_group(group, args)
          group.set_up(parent, args, extra, line)
          (parent ? parent.children : RSpec.world.groups) << group
          group.module_exec(&block) if block
          yield group if block_given?
          group
        end

        # Groups have names, so that what a spec defines in them can be seen in messages.
        def name_group(group, args)
          words = args.take_while { |one| !one.is_a?(Hash) }.join(" ").gsub(/[^a-zA-Z0-9]+/, " ").split
          name = words.map { |word| word[0].upcase + word[1..] }.join
          name = "Anonymous" if name.empty?
          name = "Nested#{name}" unless name.match?(/\A[A-Z]/)
          home = self == ExampleGroup ? RSpec::ExampleGroups : self
          number, base = 1, name
          name = "#{base}_#{number += 1}" while home.const_defined?(name, false)
          home.const_set(name, group)
        end

        def make_metadata(args, extra, line)
          args = args.dup
          given = args.last.is_a?(Hash) ? args.pop : {}
          flags = []
          flags.unshift(args.pop) while args.length > 1 && args.last.is_a?(Symbol)
          inherited = parent_group ? parent_group.metadata : {}
          metadata = inherited.merge(extra).merge(flags.to_h { |flag| [flag, true] }).merge(given)
          metadata = metadata.reject { |key, _| OWN.include?(key) && !given.key?(key) }
          path, number = line
          metadata[:description_args] = args
          metadata[:description] = Metadata.describe(args)
          metadata[:full_description] = Metadata.join(inherited[:full_description], args)
          first = args.first
          metadata[:described_class] = first.nil? || first.is_a?(String) || first.is_a?(Symbol) ?
            inherited[:described_class] : first
          metadata[:file_path], metadata[:line_number] = path, number
          metadata[:location] = "#{path}:#{number}"
          metadata[:fx_lines] = [number, *inherited[:fx_lines]]
          metadata[:parent_example_group] = inherited unless inherited.empty?
          metadata
        end

        OWN = %i[description description_args full_description location line_number execution_result].freeze

        # What lets compute; the group itself has methods that remember it. Made with the first, so that
        # it is nearer than the modules which the group includes.
        def values = @values ||= const_set(:LetDefinitions, Module.new).tap { |made| include(made) }
        def shared(title)
          RSpec.world.shared.find(parent_groups, title) or
            raise ArgumentError, "Could not find shared examples #{title.inspect}"
        end
        # File and line of the spec that called us, as reports name them.
        def caller_line = Place.of(caller)
      end

      attr_reader :__example

      def initialize(example = nil) = (@__example, @__memo = example, {})
      def described_class = self.class.described_class
      def subject
        __memoized(:subject) do
          described = self.class.metadata[:described_class] || self.class.metadata[:description_args]&.first
          described.is_a?(Class) ? described.new : described
        end
      end
      def is_expected = expect(subject)
      def should(matcher = nil, message = nil) = Expectations::Target.new(subject, nil).to(matcher, message)
      def should_not(matcher = nil, message = nil) = Expectations::Target.new(subject, nil).not_to(matcher, message)
      def skip(reason = nil) = raise(Example::Skipped, (reason || "No reason given").to_s)
      def pending(reason = nil) = (@__example.pending_reason = (reason || "No reason given").to_s)
      def __memoized(name) = @__memo.key?(name) ? @__memo[name] : (@__memo[name] = yield)
      def inspect
        return "#<#{self.class}>" unless @__example
        place = @__example.metadata[:description].empty? ? "" : " (#{@__example.location})"
        %(#<#{self.class} "#{@__example.description}"#{place}>)
      end
    end

    # The place of a spec in a list of callers.
    module Place
      # Ours are the files of this library and of the runtime, under the names they are shipped with.
      def self.own?(line) = !line.start_with?("<internal:", "fixpoint test:") && !line.include?("/fixpoint-ruby/")
      def self.of(lines)
        line = lines.find { |one| own?(one) } || lines.first.to_s
        path, number = line.match(/\A(.+?):(\d+)/)&.captures
        [relative(path.to_s), number.to_i]
      end
      def self.relative(path)
        here = "#{Dir.pwd}/"
        path.start_with?(here) ? "./#{path.delete_prefix(here)}" : path.start_with?("/", "./") ? path : "./#{path}"
      end
    end

    module Metadata
      # A description of several words; parts that begin with `#`, `.` or `::` follow without a blank.
      def self.describe(args) = join("", args)
      def self.join(parent, args) = args.reduce(parent.to_s) { |text, one| join_two(text, word(one)) }
      # A class is called by its own name, whatever it calls itself.
      def self.word(one) = Module === one ? one.inspect : one.to_s
      def self.join_two(text, more)
        return more if text.empty?
        more.match?(/\A(?:#|::|\.)/) && text.match?(/\A[A-Z]\w*(?:::\w+)*\z/) ? text + more : "#{text} #{more}"
      end
    end
  end

  module ExampleGroups; end
end
