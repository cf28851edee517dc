# What a formatter of one's own is given: small objects about an example, a group, or the whole run.
module RSpec
  module Core
    module Notifications
      NullNotification = Class.new
      StartNotification = Struct.new(:count, :load_time)
      GroupNotification = Struct.new(:group)
      MessageNotification = Struct.new(:message)
      CustomNotification = Class.new

      class ExampleNotification
        attr_reader :example
        def initialize(example) = @example = example

        # The one that fits how the example ended.
        def self.for(example)
          result = example.execution_result
          return FailedExampleNotification.new(example) if result.status == :failed
          return new(example) unless result.status == :pending
          result.example_skipped? ? SkippedExampleNotification.new(example) :
            PendingExampleFailedAsExpectedNotification.new(example)
        end
      end

      class FailedExampleNotification < ExampleNotification
        def exception = example.execution_result.exception
        def description = example.full_description
        def message_lines = Shown.body(example, exception).lines.map(&:chomp)
        def colorized_message_lines(_colorizer = nil) = message_lines
        def formatted_backtrace = Shown.trace(exception)
        def colorized_formatted_backtrace(_colorizer = nil) = formatted_backtrace.map { |line| "# #{line}" }
        def fully_formatted(number, _colorizer = nil) = "\n#{Shown.lines(example, number)}"
        def fully_formatted_lines(number, _colorizer = nil) = fully_formatted(number).lines.map(&:chomp)
      end

      class PendingExampleFixedNotification < FailedExampleNotification; end
      class PendingExampleFailedAsExpectedNotification < FailedExampleNotification; end

      class SkippedExampleNotification < ExampleNotification
        def fully_formatted(number, _colorizer = nil)
          result = example.execution_result
          "\n  #{number}) #{example.full_description}\n     # #{result.pending_message}\n     # #{example.location}\n"
        end
      end

      # All examples, when they are done.
      class ExamplesNotification
        def initialize(report) = @report = report
        def examples = @report.all
        def failed_examples = @report.failed
        def pending_examples = @report.pending
        def notifications = examples.map { |one| ExampleNotification.for(one) }
        def failure_notifications = failed_examples.map { |one| ExampleNotification.for(one) }
        def pending_notifications = pending_examples.map { |one| ExampleNotification.for(one) }

        def fully_formatted_failed_examples(_colorizer = nil)
          texts = failure_notifications.each_with_index.map { |one, at| one.fully_formatted(at + 1) }
          "\nFailures:\n#{texts.join}"
        end

        def fully_formatted_pending_examples(_colorizer = nil)
          head = "\nPending: (Failures listed here are expected and do not affect your suite's status)\n"
          texts = pending_examples.each_with_index.map do |one, at|
            SkippedExampleNotification.new(one).fully_formatted(at + 1)
          end
          "#{head}#{texts.join}"
        end
      end

      SummaryNotification = Struct.new(:duration, :examples, :failed_examples, :pending_examples, :load_time,
        :errors_outside_of_examples_count) do
        def example_count = examples.size
        def failure_count = failed_examples.size
        def pending_count = pending_examples.size
        def formatted_duration = Formatters::Helpers.format_duration(duration)
        def formatted_load_time = Formatters::Helpers.format_duration(load_time)

        def totals_line
          words = Formatters::Helpers
          parts = [words.pluralize(example_count, "example"), words.pluralize(failure_count, "failure")]
          parts << "#{pending_count} pending" if pending_count.positive?
          outside = errors_outside_of_examples_count
          parts << "#{words.pluralize(outside, "error")} occurred outside of examples" if outside.positive?
          parts.join(", ")
        end

        def colorized_totals_line(_colorizer = nil) = totals_line

        def colorized_rerun_commands(_colorizer = nil)
          lines = failed_examples.map { |one| "rspec #{one.location} # #{one.full_description}" }
          "\nFailed examples:\n\n#{lines.join("\n")}"
        end

        def fully_formatted(_colorizer = nil)
          text = "\nFinished in #{formatted_duration} (files took #{formatted_load_time} to load)\n#{totals_line}\n"
          failed_examples.empty? ? text : "#{text}#{colorized_rerun_commands}\n"
        end
      end

      SeedNotification = Struct.new(:seed, :used) do
        def seed_used? = !!used
        def fully_formatted = "\nRandomized with seed #{seed}\n"
      end

      # The slowest examples.
      class ProfileNotification
        attr_reader :duration, :examples, :number_of_examples

        def initialize(duration, examples, number)
          @duration, @examples, @number_of_examples = duration, examples, number
        end

        def slowest_examples
          @examples.sort_by { |one| -one.execution_result.run_time.to_f }.first(@number_of_examples)
        end
        def slow_duration = slowest_examples.sum(0.0) { |one| one.execution_result.run_time.to_f }
        def percentage = duration.zero? ? 0 : (slow_duration / duration * 100).round(1)

        def slowest_groups
          groups = @examples.group_by { |one| one.example_group.parent_groups.last }
          rows = groups.map do |group, examples|
            total = examples.sum(0.0) { |one| one.execution_result.run_time.to_f }
            [group, { count: examples.size, total_time: total, average: total / examples.size,
                      description: group.description }]
          end
          rows.sort_by { |_, row| -row[:average] }.first(@number_of_examples)
        end
      end
    end
  end
end
