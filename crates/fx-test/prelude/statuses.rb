# What became of examples in the runs before, in the file that the project names for it; and which took longest.
module RSpec
  module Core
    # The table of statuses as RSpec keeps it.
    module Statuses
      HEADS = %w[example_id status run_time].freeze
      class << self
        def path = RSpec.configuration.example_status_persistence_file_path
        # Rows by example.
        def kept
          return {} unless path && File.exist?(path)
          File.readlines(path, chomp: true).drop(2).to_h do |line|
            row = line.split(/\s+\|\s?/, -1)
            [row[0], row.first(3)]
          end
        end

        # Files with failures, where no others are asked for by name.
        def wanted(files, options)
          return files unless RSpec.configuration.only_failures && path && options["everything"]
          failing = kept.select { |_, row| row[1] == "failed" }.keys.map { |id| id[/\A[^\[]+/] }
          found = files.select { |file| failing.include?(Place.relative(file)) }
          found.empty? ? files : found
        end
        def failed_before(examples)
          unless path
            raise NoReport,
              "\nTo use `--only-failures`, you must first set `config.example_status_persistence_file_path`."
          end
          known = kept
          examples.select { |one| known[one.id]&.at(1) == "failed" }
        end

        # Keeps what was run beside what is known of others that are still there.
        def keep(examples)
          return unless path && !examples.empty?
          now = examples.to_h { |one| [one.id, row_of(one)] }
          files = now.keys.to_h { |id| [id[/\A[^\[]+/], true] }
          before = kept.select { |id, _| now.key?(id) || (file = id[/\A[^\[]+/]) && !files[file] && File.exist?(file) }
          rows = before.merge(now) { |_, old, new| new[1] == "unknown" ? old : new }.values
          write(rows.sort_by { |id, _| [id[/\A[^\[]+/], id[/\[(.*)\]/, 1].split(":").map(&:to_i)] })
        end

        private

        def row_of(one)
          result = one.execution_result
          [one.id, (result.status || "unknown").to_s, result.run_time ? Statuses.time(result.run_time) : ""]
        end
        def write(rows)
          require "fileutils"
          FileUtils.mkdir_p(File.dirname(path))
          widths = [HEADS, *rows].transpose.map { |column| column.map(&:length).max }
          lines = [HEADS, widths.map { |width| "-" * width }, *rows].map do |row|
            "#{row.each_with_index.map { |text, at| text.ljust(widths[at]) }.join(" | ")} |\n"
          end
          File.write(path, lines.join)
        end
      end

      # Seconds with as many digits as they are worth.
      def self.seconds(number)
        digits = number < 1 ? 5 : number < 120 ? 2 : number < 300 ? 1 : 0
        text = format("%.#{digits}f", number)
        text.include?(".") ? text.sub(/\.?0+\z/, "") : text
      end
      def self.time(number)
        return "#{seconds(number)} second#{"s" unless seconds(number) == "1"}" if number <= 60
        minutes = (number / 60).to_i
        rest = seconds(number - minutes * 60)
        "#{minutes} minute#{"s" unless minutes == 1} #{rest} second#{"s" unless rest == "1"}"
      end
    end

    # `--profile`: the examples and the groups that took longest.
    class Profile
      def initialize(out, examples, count) = (@out, @examples, @count = out, examples, count)
      def tell
        slowest = @examples.max_by(@count) { |one| one.execution_result.run_time }
        all, slow = [@examples, slowest].map { |list| list.sum { |one| one.execution_result.run_time } }
        share = all.zero? ? 0 : (slow / all * 100).round(1)
        share = format("%.1f", share)
        time = Statuses.seconds(slow)
        @out.puts("\nTop #{slowest.size} slowest examples (#{time} seconds, #{share}% of total time):\n")
        slowest.each do |one|
          @out.puts("  #{one.full_description}")
          @out.puts("    #{Statuses.seconds(one.execution_result.run_time)} seconds #{one.location}")
        end
        groups
      end

      private

      # Outermost groups, where there are several.
      def groups
        found = @examples.group_by { |one| one.metadata[:fx_top] }
        return if found.size < 2
        ranked = found.map do |(place, words), list|
          total = list.sum { |one| one.execution_result.run_time }
          [total / list.size, total, list.size, place, words]
        end.max_by(@count, &:first)
        @out.puts("\nTop #{ranked.size} slowest example groups:")
        ranked.each do |average, total, size, place, words|
          count = "#{size} example#{"s" unless size == 1}"
          @out.puts("  #{words}")
          average, total = [average, total].map { |one| Statuses.seconds(one) }
          @out.puts("    #{average} seconds average (#{total} seconds / #{count}) #{place}")
        end
      end
    end
  end
end
