# Forms of a report: dots, a tree of words, JSON as RSpec writes it, and JUnit's XML.
module RSpec
  module Core
    module Formatters
      class Text
        def initialize(out) = @out = out
        def error_outside(error, words)
          @out.puts("\n#{words}\n#{Shown.indented("#{error.class}:\n  #{error.message}", 2)}")
          Shown.trace(error).each { |line| @out.puts("# #{line}") }
        end
        def message(text) = @out.puts(text)
        def finish(report, duration, load_time)
          pending(report)
          failures(report)
          @out.puts("\nFinished in #{time(duration)} (files took #{time(load_time)} to load)")
          @out.puts(report.summary_line)
          unless report.failed.empty?
            @out.puts("\nFailed examples:\n\n")
            report.failed.each { |one| @out.puts("rspec #{one.location} # #{one.full_description}") }
          end
          count = RSpec.configuration.profile_examples
          Profile.new(@out, report.all, count == true ? 10 : count).tell if count
          @out.puts
        end

        private

        def pending(report)
          return if report.pending.empty?
          @out.puts("\nPending: (Failures listed here are expected and do not affect your suite's status)\n")
          report.pending.each_with_index do |one, at|
            @out.puts("\n  #{at + 1}) #{one.full_description}")
            @out.puts("     # #{one.result.pending_message}\n     # #{one.location}")
          end
        end
        def failures(report)
          return if report.failed.empty?
          @out.puts("\nFailures:\n")
          report.failed.each_with_index { |one, at| @out.puts("\n#{Shown.lines(one, at + 1)}") }
        end
        def time(seconds)
          return "#{seconds.round(seconds < 1 ? 5 : 2)} seconds" if seconds <= 60
          "#{(seconds / 60).to_i} minute#{"s" if seconds >= 120} #{(seconds % 60).round(2)} seconds"
        end
      end

      class Progress < Text
        def example_passed(_) = @out.print(".")
        def example_failed(_) = @out.print("F")
        def example_pending(_) = @out.print("*")
        def finish(...)
          @out.puts
          super
        end
      end

      class Documentation < Text
        def initialize(out)
          super
          @depth, @failed = 0, 0
        end
        def group_started(group)
          @out.puts if @depth.zero?
          @out.puts("#{"  " * @depth}#{group.description}")
          @depth += 1
        end
        def group_finished(_) = @depth -= 1
        def example_passed(one) = @out.puts("#{"  " * @depth}#{one.description}")
        def example_failed(one) = @out.puts("#{"  " * @depth}#{one.description} (FAILED - #{@failed += 1})")
        def example_pending(one)
          @out.puts("#{"  " * @depth}#{one.description} (PENDING: #{one.result.pending_message})")
        end
      end

      class Json
        def initialize(out) = (@out, @messages, @examples = out, [], [])
        def message(text) = @messages << text
        def error_outside(error, words) = @messages << "\n#{words}\n#{error.class}: #{error.message}\n"
        def example_finished(one)
          @examples << { id: one.id, description: one.description, full_description: one.full_description,
                         status: one.result.status.to_s, file_path: one.file_path,
                         line_number: one.metadata[:line_number], run_time: one.result.run_time,
                         pending_message: one.result.pending_message }
          error = one.result.exception
          return unless error && one.result.status == :failed
          @examples.last[:exception] = { class: error.class.name, message: error.message, backtrace: error.backtrace }
        end
        def finish(report, duration, _)
          require "json"
          hash = { version: Version::STRING }
          hash[:messages] = @messages unless @messages.empty?
          hash[:examples] = @examples
          hash[:summary] = { duration: duration, example_count: report.count, failure_count: report.failed.size,
                             pending_count: report.pending.size, errors_outside_of_examples_count: report.errors.size }
          hash[:summary_line] = report.summary_line
          @out.write(::JSON.generate(hash))
        end
      end

      class Junit
        def initialize(out) = (@out, @cases = out, [])
        def example_finished(one) = @cases << one
        def finish(report, duration, _)
          @out.puts(%(<?xml version="1.0" encoding="UTF-8"?>))
          @out.puts(%(<testsuite name="rspec" tests="#{report.count}" skipped="#{report.pending.size}" ) +
            %(failures="#{report.failed.size}" errors="#{report.errors.size}" time="#{format("%.6f", duration)}">))
          @cases.each { |one| test_case(one) }
          @out.puts("</testsuite>")
        end

        private

        def test_case(one)
          name = one.file_path.delete_prefix("./").delete_suffix(".rb").tr("/", ".")
          head = %(<testcase classname="#{escaped(name)}" name="#{escaped(one.full_description)}" ) +
            %(file="#{escaped(one.file_path)}" time="#{format("%.6f", one.result.run_time)}")
          case one.result.status
          when :passed then @out.puts("#{head}></testcase>")
          when :pending then @out.puts("#{head}><skipped/></testcase>")
          else
            error = one.result.exception
            type = escaped(error.class.name.to_s)
            @out.puts(%(#{head}><failure message="#{escaped(error.message)}" type="#{type}">) +
              "#{escaped(Shown.lines(one, 1))}</failure></testcase>")
          end
        end
        # Control characters have no form in XML.
        def escaped(text)
          text.to_s.scrub("?").gsub(/[&<>"]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;")
            .gsub(/[\x00-\x08\x0b\x0c\x0e-\x1f]/) { |one| "\\x#{one.ord.to_s(16).rjust(2, "0")}" }
        end
      end

      KINDS = { "progress" => Progress, "p" => Progress, "documentation" => Documentation, "doc" => Documentation,
                "d" => Documentation, "json" => Json, "j" => Json, "junit" => Junit,
                "RspecJunitFormatter" => Junit }.freeze
    end
  end
end
