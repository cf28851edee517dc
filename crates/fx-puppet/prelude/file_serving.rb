# Files by their address, as code of modules reads them: of modules and of this machine. There is no server to ask.
module Puppet
  module FileServing
    class Base
      attr_reader :path, :source
      attr_accessor :links, :relative_path
      def self.indirection = @indirection ||= Indirection.new(self)
      def initialize(path, source = nil)
        @path, @source = path, source
      end
      def full_path = relative_path.to_s.empty? ? path : File.join(path, relative_path)
      def stat = links == :manage ? File.lstat(full_path) : File.stat(full_path)
      def exist?
        stat
        true
      rescue Errno::ENOENT, Errno::ENOTDIR, Errno::EACCES
        false
      end
    end
    class Content < Base
      def content
        return nil if File.directory?(full_path)
        @content ||= File.binread(full_path)
      end
      def to_binary = content
    end
    class Metadata < Base
      attr_writer :checksum_type
      def checksum_type = @checksum_type || Puppet[:digest_algorithm].to_s
      def ftype = stat.ftype
      def mode = stat.mode & 0o7777
      def owner = stat.uid
      def group = stat.gid
      def destination = ftype == "link" ? File.readlink(full_path) : nil
      def checksum
        return nil unless ftype == "file"
        kind = checksum_type.to_s
        "{#{kind}}#{Puppet::Util::Checksums.send("#{kind}_file", full_path)}"
      end
    end
    class Indirection
      def initialize(kind)
        @kind = kind
      end
      # Nothing where there is no such file.
      def find(address, options = {})
        path = __path(address.to_s)
        return nil unless path
        found = @kind.new(path, address.to_s)
        found.links = options[:links] if options[:links]
        found if found.exist?
      end
      def search(address, options = {})
        path = __path(address.to_s)
        return nil unless path && File.directory?(path)
        inside = Dir.glob("**/*", File::FNM_DOTMATCH, base: path).reject { |name| name.end_with?("/.") || name == "." }
        ["."].concat(inside.sort).map do |name|
          one = @kind.new(path, address.to_s)
          one.relative_path = name
          one.links = options[:links] if options[:links]
          one
        end
      end
      def __path(address)
        case address
        when %r{\Apuppet:///modules/(.+)} then Puppet::Bridge.find_file("files", $1)
        when %r{\Afile:(?://)?(/.*)} then $1
        when %r{\A/} then address
        end
      end
    end
  end
end
