# Files below the cache directory.
class Chef
  class FileCache
    class << self
      def path(name = "") = ::File.join(Chef::Config[:file_cache_path], name)
      def store(name, content, mode = 0640)
        require "fileutils"
        FX.own_state do
          ::FileUtils.mkdir_p(::File.dirname(path(name)))
          FX.store(path(name), content, mode)
        end
        true
      end
      def load(name, read = true)
        raise Chef::Exceptions::FileNotFound, "Cannot find #{path(name)} for #{name}!" unless ::File.exist?(path(name))
        read ? ::File.binread(path(name)) : path(name)
      end
      def has_key?(name) = ::File.exist?(path(name))
      alias key? has_key?
      def delete(name)
        FX.own_state { ::File.unlink(path(name)) } if has_key?(name)
        true
      end
      def create_cache_path(p, create_if = true)
        full = path(p)
        require "fileutils"
        FX.own_state { ::FileUtils.mkdir_p(full) } if create_if
        full
      end
      def list = ::Dir.glob(path("**/*")).select { |f| ::File.file?(f) }
    end
  end
end
