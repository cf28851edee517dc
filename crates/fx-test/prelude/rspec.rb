# RSpec as spec files know it, written for this runtime: groups, examples, expectations and doubles.
module RSpec
  module Version
    STRING = "3.12.0"
  end

  class << self
    def configuration = @configuration ||= Core::Configuration.new
    def world = @world ||= Core::World.new
    def configure = yield(configuration)
    def current_example = Thread.current[:rspec_current_example]
    def current_example=(example)
      Thread.current[:rspec_current_example] = example
    end

    %i[describe context fdescribe fcontext xdescribe xcontext example_group].each do |name|
      define_method(name) { |*args, &block| Core::ExampleGroup.public_send(name, *args, &block) }
    end

    %i[shared_examples shared_context shared_examples_for].each do |name|
      define_method(name) { |title, *args, &block| world.shared.add(:main, title, args, block) }
    end

    def expose_dsl_globally? = true
    # The whole of a run begins anew.
    def reset
      @world = @configuration = nil
    end
  end

  module Core
    # What was loaded: outermost groups and what they share.
    class World
      attr_reader :groups, :shared
      attr_accessor :non_example_failure
      attr_writer :wants_to_quit
      def wants_to_quit = @wants_to_quit || FxPart.stopped?
      def initialize
        @groups, @shared, @wants_to_quit, @numbers = [], SharedGroups.new, false, Hash.new(0)
      end
      alias example_groups groups
      # The number of the next outermost group of a file.
      def next_number(file) = @numbers[file] += 1
      def all_examples = groups.flat_map(&:all_examples)
      alias all_example_groups groups
    end

    # Examples that several groups include, by the group that may see them.
    class SharedGroups
      Shared = Struct.new(:title, :metadata, :block)
      def initialize = @by_group = Hash.new { |all, group| all[group] = {} }
      def add(group, title, args, block)
        metadata = args.last.is_a?(Hash) ? args.last : {}
        args.grep(Symbol).each { |name| metadata = metadata.merge(name => true) }
        @by_group[group][title.is_a?(Module) ? title : title.to_s] = Shared.new(title, metadata, block)
      end
      def find(groups, title)
        key = title.is_a?(Module) ? title : title.to_s
        [*groups, :main].each do |group|
          found = @by_group.key?(group) && @by_group[group][key]
          return found if found
        end
        nil
      end
      def each_of_main(&block) = @by_group[:main].each_value(&block)
    end
  end

  module Expectations
    class ExpectationNotMetError < Exception; end
    class MultipleExpectationsNotMetError < ExpectationNotMetError
      attr_reader :failures
      def initialize(failures)
        @failures = failures
        parts = failures.each_with_index.map { |one, at| part(one, at + 1) }
        super("Got #{failures.size} failures from failure aggregation block:\n\n#{parts.join("\n\n")}")
      end

      private

      def part(error, number)
        head = "  #{number}) "
        lines = error.message.strip.lines.map(&:chomp)
        place = Core::Shown.trace(error).first
        rest = [*lines.drop(1), "", place].map { |line| line.to_s.empty? ? "" : " " * head.size + line }
        [head + lines.first.to_s, *rest].join("\n")
      end
    end
  end
end
