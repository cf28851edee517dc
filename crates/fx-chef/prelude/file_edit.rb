# Chef::Util: edits of files by lines, paths, and names that exist only.
class Chef
  class Util
    class FileEdit
      def initialize(path)
        raise ArgumentError, "File '#{path}' does not exist" unless ::File.exist?(path)
        @path = path
        @lines = ::File.readlines(path)
        @changed = false
      end
      def unwritten_changes? = @changed
      def file_edited? = @edited || false
      def search_file_replace(regex, replace) = each_line(regex) { |l| l.gsub(re(regex), replace) }
      def search_file_replace_line(regex, newline) = each_line(regex) { |_| "#{newline}\n" }
      def search_file_delete(regex) = each_line(regex) { |l| l.gsub(re(regex), "") }
      def search_file_delete_line(regex)
        before = @lines.size
        @lines.reject! { |l| l.match?(re(regex)) }
        @changed = true if @lines.size != before
      end
      def insert_line_after_match(regex, newline)
        out = []
        @lines.each do |l|
          out << l
          if l.match?(re(regex))
            out << "#{newline}\n"
            @changed = true
          end
        end
        @lines = out
      end
      def insert_line_if_no_match(regex, newline)
        return if @lines.any? { |l| l.match?(re(regex)) }
        @lines[-1] += "\n" if !@lines.empty? && !@lines.last.end_with?("\n")
        @lines << "#{newline}\n"
        @changed = true
      end
      def write_file
        if @changed
          ::File.write("#{@path}.old", ::File.read(@path))
          ::File.write(@path, @lines.join)
          @edited = true
        end
        @changed = false
      end
      def re(r) = r.is_a?(Regexp) ? r : Regexp.new(r)
      def each_line(regex)
        r = re(regex)
        @lines.map! do |l|
          next l unless l.match?(r)
          @changed = true
          yield l
        end
      end
    end
    class PathHelper
      class << self
        def join(*a) = ::File.join(*a)
        def dirname(p) = ::File.dirname(p)
        def cleanpath(p) = ::File.expand_path(p)
        def canonical_path(p, *) = ::File.expand_path(p)
        def paths_eql?(a, b) = ::File.expand_path(a) == ::File.expand_path(b)
        def escape_glob_dir(*a) = ::File.join(*a).gsub(/[\\{}\[\]*?]/) { |x| "\\" + x }
        def home(*a) = ::File.join(ENV["HOME"].to_s, *a)
        def path_separator = "/"
      end
    end
    module Selinux
      def selinux_enabled? = false
    end
    class Backup; end
    class Diff; end
  end
end
