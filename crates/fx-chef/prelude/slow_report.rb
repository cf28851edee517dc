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
        records = Chef::Resource.fx_timed
        return puts("\nNo resources to profile\n\n") if records.empty?
        top = records.sort_by { |_, _, seconds| seconds }.last(amount).reverse
        rows = top.map do |r, action, seconds|
          [r.to_s, seconds, action, r.cookbook_name, r.recipe_name, r.source_line.to_s.gsub(%r{.*/cookbooks/}, "")]
        end
        count = [records.size, amount].min
        puts "\nTop #{count} slowest #{count == 1 ? "resource" : "resources"}:\n\n"
        rows = [HEAD] + rows.map { |row| row.map(&:to_s) }
        widths = HEAD.each_index.map { |i| rows.map { |row| row[i].size }.max }
        rows.insert(1, widths.map { |w| "-" * w })
        rows.each { |row| puts row.each_with_index.map { |text, i| text.ljust(widths[i]) }.join(" ") }
        puts "\n"
      end
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
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      fx_untimed_run_action(action, notification_type, notifying_resource)
    ensure
      @elapsed_time = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      Chef::Resource.fx_timed << [self, action, @elapsed_time]
    end
  end
end
