# Bases for formatters written in Ruby.
class Chef
  module Formatters
    class Base < Chef::EventDispatch::Base
      def self.cli_name(*) = nil
      def initialize(out = $stdout, err = $stderr) = (@out, @err = out, err)
      def puts(*a) = @out.puts(*a)
      def print(*a) = @out.print(*a)
      def puts_line(text, *) = @out.puts(text)
    end
    class Doc < Base; end
    class Minimal < Base; end
    class NullFormatter < Base; end
    def self.new(*) = Base.new
    def self.register(*) = nil
  end
end
