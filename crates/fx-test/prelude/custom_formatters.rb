# Formatters of the project's own: the classes they build on, how they are found, and who tells them what happens.
module RSpec
  module Core
    module Formatters
      # Colours by their names. Reports have none.
      module ConsoleCodes
        def self.wrap(text, _code_or_symbol) = text
        def self.console_code_for(_code_or_symbol) = 0
      end

      module Helpers
        def self.format_duration(duration)
          seconds = duration.to_f
          return pluralize(format_seconds(seconds, seconds < 1 ? 5 : 2), "second") if seconds <= 60
          minutes, rest = seconds.divmod(60)
          "#{pluralize(minutes.to_i, "minute")} #{pluralize(format_seconds(rest, 2), "second")}"
        end
        def self.format_seconds(number, precision = 2) = format("%.#{precision}f", number).sub(/\.?0+\z/, "")
        def self.pluralize(count, word)
          number = count.to_s
          "#{number} #{word.end_with?("s") && number != "1" ? "#{word}es" : number == "1" ? word : "#{word}s"}"
        end
        def self.organize_ids(ids) = ids
      end

      @wanted = {}
      class << self
        # The events that a class wants to hear.
        def register(formatter_class, *events) = @wanted[formatter_class] = events.map(&:to_sym)
        def wanted(formatter_class) = formatter_class.ancestors.flat_map { |one| @wanted.fetch(one, []) }.uniq

        # A class by its name, or by the file that its name leads to.
        def custom(name)
          return name if name.is_a?(Class)
          return unless name.match?(/\A[A-Z]\w*(::[A-Z]\w*)*\z/)
          return Object.const_get(name) if Object.const_defined?(name)
          require name.gsub("::", "/").gsub(/([a-z\d])([A-Z])/, '\1_\2').downcase
          Object.const_get(name)
        rescue ::LoadError, NameError
          nil
        end
      end

      class BaseFormatter
        Formatters.register self, :start, :example_group_started, :close
        attr_accessor :example_group
        attr_reader :output

        def initialize(output)
          @output = output || StringIO.new
          @example_group = nil
        end

        def start(notification)
          @example_count = notification.count
        end

        def example_group_started(notification)
          @example_group = notification.group
        end

        def close(_notification) = output.respond_to?(:flush) && output.flush
      end

      class BaseTextFormatter < BaseFormatter
        Formatters.register self, :message, :dump_summary, :dump_failures, :dump_pending, :seed

        def message(notification) = output.puts(notification.message)

        def dump_failures(notification)
          output.puts(notification.fully_formatted_failed_examples) unless notification.failure_notifications.empty?
        end

        def dump_summary(summary) = output.puts(summary.fully_formatted)

        def dump_pending(notification)
          output.puts(notification.fully_formatted_pending_examples) unless notification.pending_examples.empty?
        end

        def seed(notification)
          output.puts(notification.fully_formatted) if notification.seed_used?
        end

        def close(_notification)
          output.puts
          super
        end
      end

      class ProgressFormatter < BaseTextFormatter
        Formatters.register self, :example_passed, :example_pending, :example_failed, :start_dump

        def example_passed(_notification) = output.print(".")
        def example_pending(_notification) = output.print("*")
        def example_failed(_notification) = output.print("F")
        def start_dump(_notification) = output.puts
      end

      class DocumentationFormatter < BaseTextFormatter
        Formatters.register self, :example_group_started, :example_group_finished, :example_passed,
          :example_pending, :example_failed

        def initialize(output)
          super
          @group_level, @failures = 0, 0
        end

        def example_group_started(notification)
          output.puts if @group_level.zero?
          output.puts("#{current_indentation}#{notification.group.description.strip}")
          @group_level += 1
        end

        def example_group_finished(_notification) = @group_level -= 1
        def example_passed(passed) = output.puts(passed_output(passed.example))

        def example_pending(pending)
          output.puts(pending_output(pending.example, pending.example.execution_result.pending_message))
        end

        def example_failed(failure) = output.puts(failure_output(failure.example))

        private

        def passed_output(example) = "#{current_indentation}#{example.description.strip}"
        def pending_output(example, message) = "#{passed_output(example)} (PENDING: #{message})"
        def failure_output(example) = "#{passed_output(example)} (FAILED - #{next_failure_index})"
        def next_failure_index = @failures += 1
        def current_indentation(offset = 0) = "  " * (@group_level + offset)
      end

      class JsonFormatter < BaseFormatter
        Formatters.register self, :message, :dump_summary, :stop, :close
        attr_reader :output_hash

        def initialize(output)
          super
          @output_hash = { version: Version::STRING }
        end

        def message(notification) = (@output_hash[:messages] ||= []) << notification.message

        def dump_summary(summary)
          @output_hash[:summary] = {
            duration: summary.duration, example_count: summary.example_count, failure_count: summary.failure_count,
            pending_count: summary.pending_count,
            errors_outside_of_examples_count: summary.errors_outside_of_examples_count
          }
          @output_hash[:summary_line] = summary.totals_line
        end

        def stop(group_notification)
          @output_hash[:examples] = group_notification.notifications.map do |one|
            format_example(one.example).tap do |hash|
              error = one.example.execution_result.exception
              next unless error && one.example.execution_result.status == :failed
              hash[:exception] = { class: error.class.name, message: error.message, backtrace: error.backtrace }
            end
          end
        end

        def close(_notification)
          require "json"
          output.write(::JSON.generate(@output_hash))
        end

        private

        def format_example(example)
          { id: example.id, description: example.description, full_description: example.full_description,
            status: example.execution_result.status.to_s, file_path: example.file_path,
            line_number: example.metadata[:line_number], run_time: example.execution_result.run_time,
            pending_message: example.execution_result.pending_message }
        end
      end

      # Stands between the reporter and a formatter of somebody's own.
      class Custom
        include Notifications

        def initialize(kind, out)
          wanted = Formatters.wanted(kind)
          if wanted.empty?
            raise NoReport, "the formatter #{kind} hears nothing; call RSpec::Core::Formatters.register in it"
          end
          @formatter, @wanted = kind.new(out), wanted
        end

        def start(count) = @count = count
        def started(load_time) = tell(:start, StartNotification.new(@count.to_i, load_time))
        def group_started(group) = tell(:example_group_started, GroupNotification.new(group))
        def group_finished(group) = tell(:example_group_finished, GroupNotification.new(group))
        def example_started(one) = tell(:example_started, ExampleNotification.new(one))
        def example_finished(one) = tell(:example_finished, ExampleNotification.for(one))
        def example_passed(one) = tell(:example_passed, ExampleNotification.for(one))
        def example_failed(one) = tell(:example_failed, ExampleNotification.for(one))
        def example_pending(one) = tell(:example_pending, ExampleNotification.for(one))
        def message(text) = tell(:message, MessageNotification.new(text))
        def error_outside(error, words) = message("\n#{words}\n#{error.class}:\n  #{error.message}\n")

        # The whole of the end, in the order in which RSpec tells it.
        def finish(report, duration, load_time)
          all = ExamplesNotification.new(report)
          tell(:stop, all)
          tell(:start_dump, NullNotification)
          tell(:dump_pending, all)
          tell(:dump_failures, all)
          tell(:deprecation_summary, NullNotification)
          profile(report, duration)
          tell(:dump_summary, SummaryNotification.new(duration, report.all, report.failed, report.pending, load_time,
            report.errors.size))
          tell(:seed, SeedNotification.new(RSpec.configuration.seed, Ordering.random?))
          tell(:close, NullNotification)
        end

        private

        def tell(event, notification)
          @formatter.public_send(event, notification) if @wanted.include?(event) && @formatter.respond_to?(event)
        end

        def profile(report, duration)
          count = RSpec.configuration.profile_examples or return
          tell(:dump_profile, ProfileNotification.new(duration, report.all, count == true ? 10 : count))
        end
      end
    end
  end
end
