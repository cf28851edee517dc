# What a run did, for a server that wants to hear of it: remembered the way the report in a file does.
class Chef
  module FxServerReports
    class Listener < Chef::FxReporter
      def initialize(sender, status, node)
        super()
        @sender, @run, @of = sender, status, node
      end
      def run_completed(node, status) = @sender.finish(self, node, status, nil)
      def run_failed(error, status) = @sender.finish(self, @of, status || @run, error)
      def updated = @rows.select { |r| r[:status] == "updated" }.map { |r| row(r) }
    end
  end
end
