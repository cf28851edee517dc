# What happened, for formatters: each is told of what it has a method for.
module RSpec
  module Core
    class Reporter
      class << self
        attr_accessor :current
      end
      attr_reader :passed, :failed, :pending, :errors, :all
      def initialize(formatters)
        @formatters, @passed, @failed, @pending, @errors, @all = formatters, [], [], [], [], []
        Reporter.current = self
      end
      def tell(event, *args) = @formatters.each { |one| one.public_send(event, *args) if one.respond_to?(event) }
      def group_started(group) = tell(:group_started, group)
      def group_finished(group) = tell(:group_finished, group)
      def example_started(example) = tell(:example_started, example)
      def example_finished(example) = (all << example) && tell(:example_finished, example)
      def example_passed(example) = (passed << example) && tell(:example_passed, example)
      def example_failed(example) = (failed << example) && tell(:example_failed, example)
      def example_pending(example) = (pending << example) && tell(:example_pending, example)
      def message(text) = tell(:message, text)
      # A file that could not be loaded, or a hook of the whole suite that failed.
      def error_outside(error, words)
        @errors << error
        tell(:error_outside, error, words)
      end
      def count = passed.size + failed.size + pending.size
      def start(count) = tell(:start, count)
      def started(load_time) = tell(:started, load_time)
      def finish(duration, load_time) = tell(:finish, self, duration, load_time)
      def summary_line
        words = ["#{plural(count, "example")}, #{plural(failed.size, "failure")}"]
        words << "#{pending.size} pending" unless pending.empty?
        words << "#{plural(errors.size, "error")} occurred outside of examples" unless errors.empty?
        words.join(", ")
      end
      def plural(number, word) = "#{number} #{word}#{"s" unless number == 1}"
    end

    # How failures are shown to people.
    module Shown
      def self.lines(example, number)
        return example.shown(number) if example.is_a?(Replayed)
        error = example.result.exception
        text = +"  #{number}) #{example.full_description}\n"
        text << indented(body(example, error), 5)
        text << trace(error).map { |line| "     # #{line}\n" }.join
        text
      end
      def self.body(example, error)
        name = error.class.name.to_s
        lines = name.include?("RSpec") ? [] : ["#{name}:"]
        lines += error.message.to_s.lines.map { |line| line.strip.empty? ? "" : "  #{line.chomp}" }
        # What is more than a line stands by itself.
        lines.unshift("") if lines.size > 1 && !lines.first.empty?
        "Failure/Error: #{line_of(error, example)}\n#{lines.join("\n")}\n"
      end
      def self.indented(text, by) = text.lines.map { |line| line.strip.empty? ? "\n" : "#{" " * by}#{line}" }.join
      def self.trace(error)
        (error.backtrace || []).select { |line| own?(line) }.map { |line| Place.relative(line) }.first(10)
      end
      def self.own?(line) = Place.own?(line)
      def self.line_of(error, example)
        place = (error.backtrace || []).find { |line| own?(line) && line.include?(File.basename(example.file_path)) }
        path, number = place&.match(/\A(.+?):(\d+)/)&.captures
        return "Unable to find matching line from backtrace" unless path && File.file?(path)
        File.readlines(path)[number.to_i - 1].to_s.strip
      end
    end
  end
end
