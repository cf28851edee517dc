# The slowest actions of a run, at its end.
class Chef
  class Handler
    class SlowReport < ::Chef::Handler
      HEAD = %w{resource elapsed_time action cookbook recipe source}.freeze
      attr_accessor :amount

      def initialize(amount)
        @amount = amount.to_s.match?(/\A\d+\z/) ? amount.to_i : 10
      end

      def report
        count = [Array(all_resources).size, amount].min
        return puts("\nNo resources to profile\n\n") if count == 0
        top = Chef::Resource.fx_timed.sort_by { |_, _, seconds| seconds }.last(amount).reverse
        rows = top.map do |r, action, seconds|
          [r.to_s, seconds, action, r.cookbook_name, r.recipe_name, r.source_line.to_s.gsub(%r{.*/cookbooks/}, "")]
        end
        puts "\nTop #{count} slowest #{count == 1 ? "resource" : "resources"}:\n\n"
        puts table(rows.map { |row| row.map(&:to_s) }), "\n"
      end

      private

      # A table that is wider than the terminal is written as pairs, one below the other.
      def table(rows)
        columns = ENV["COLUMNS"].to_i
        columns = 80 unless columns > 0
        wide = padded([HEAD, *rows])
        return padded(rows.flat_map { |row| HEAD.zip(row) }) if wide[0].size > columns
        wide.insert(1, rule([HEAD, *rows]))
      end

      def padded(rows)
        widths = widths(rows)
        rows.map { |row| row.zip(widths).map { |text, width| text.ljust(width) }.join(" ") }
      end

      def rule(rows) = widths(rows).map { |width| "-" * width }.join(" ")

      def widths(rows) = rows.transpose.map { |texts| texts.map(&:size).max }
    end
  end
  class Resource
    @fx_timed = []
    class << self
      attr_reader :fx_timed
    end
    # Actions are timed only where that is wanted.
    alias fx_untimed_run_action run_action
    def run_action(action, notification_type = nil, notifying_resource = nil)
      start = Time.now
      fx_untimed_run_action(action, notification_type, notifying_resource)
    ensure
      @elapsed_time = [Time.now - start, 0].max
      Chef::Resource.fx_timed << [self, action, @elapsed_time]
    end
  end
end
