# Cookbooks of a server in the file cache: which files a run needs, which of them are there
# already, and which are no longer wanted. What the server says is not believed: names must stay
# below the cookbook, and content must have the digest that the manifest gives.
class Chef
  class FxCookbookCache
    SEGMENTS = %w{attributes definitions files libraries providers recipes resources root_files templates}.freeze
    class Record
      attr_reader :path, :checksum, :url
      def initialize(path, checksum, url) = (@path, @checksum, @url = path, checksum, url)
    end

    attr_reader :books
    def initialize(manifests)
      unless manifests.is_a?(Hash) && manifests.values.all?(Hash)
        raise Chef::Exceptions::CookbookNotFound, "the server's list of cookbooks cannot be read"
      end
      @records = manifests.to_h { |name, m| [name, records(name, m)] }
      @books = manifests.to_h { |name, m| [name, book(name, m)] }
    end

    def root = ::File.join(Chef::Config[:file_cache_path], "cookbooks")

    def synchronize(keep_others)
      Chef::Log.info("Loading cookbooks [#{@books.values.map { |b| "#{b.name}@#{b.version}" }.join(", ")}]")
      @keep_others = keep_others
      needed, others = cached.partition { |name, _| @records.key?(name) }
      if keep_others
        Chef::Log.info("Skipping removal of obsoleted cookbooks from the cache")
      else
        remove(others, "its cookbook is no longer needed on this client")
      end
      remove(needed.select { |name, path| path.include?("/") && !wanted?(name, path) },
        "its is no longer in the cookbook manifest")
      if Chef::Config[:skip_cookbook_sync]
        Chef::Log.warn("skipping cookbook synchronization! DO NOT LEAVE THIS ENABLED IN PRODUCTION!!!")
      else
        @records.each { |name, list| list.each { |record| bring(name, record) } }
      end
      Chef::Config[:cookbook_path] = root
    end

    # After a run that went well.
    def clean
      return Chef::Log.info("Skipping removal of unused files from the cache") if @keep_others
      remove(cached.reject { |name, path| wanted?(name, path) }, "it is no longer needed by chef-client")
    end

    private

    def records(name, manifest)
      safe(name, name)
      list = manifest["all_files"] || SEGMENTS.flat_map { |s| manifest[s] || [] }
      list.map do |file|
        safe(file["path"], name)
        unless file["checksum"].to_s.match?(/\A\h{32}\z/)
          raise Chef::Exceptions::ChecksumMismatch.new(file["checksum"].to_s, "none")
        end
        Record.new(file["path"], file["checksum"].downcase, file["url"].to_s)
      end
    end

    # A name that leads nowhere else.
    def safe(path, cookbook)
      # A pattern that counts to 4,000 takes longer to read than the rest of a run.
      plain = path.is_a?(String) && !path.empty? && path.size <= 4000 && !path.include?("\0") && !path.include?("\n")
      return if plain && path.split("/", -1).none? { |p| ["", ".", ".."].include?(p) }
      raise Chef::Exceptions::InvalidCookbookPath,
        "the server names a file of cookbook #{cookbook.inspect} that is not below it: #{path.inspect}"
    end

    def book(name, manifest)
      metadata = Chef::Cookbook::Metadata.new.from_hash(manifest["metadata"] || {})
      metadata.name(name)
      metadata.version(manifest["version"]) if manifest["version"]
      Chef::CookbookVersion.new(::File.join(root, name), metadata, @records[name].map(&:path).sort)
    end

    def wanted?(name, path) = (@wanted ||= index)[name]&.include?(path)
    def index = @records.transform_values { |list| list.to_h { |r| [r.path, true] } }

    # Files of the cache, each with its cookbook.
    def cached
      FX.subdirs(root).flat_map { |name| FX.scan("#{root}/#{name}").map { |path| [name, path] } }
    end

    def remove(files, why)
      files.each do |name, path|
        Chef::Log.info("Removing cookbooks/#{name}/#{path} from the cache; #{why}.")
        FX.own_state { ::File.unlink("#{root}/#{name}/#{path}") }
      end
    end

    def bring(name, record)
      path = ::File.join(root, name, record.path)
      return if FX.md5(path) == record.checksum
      content = api.fetch(record.url)
      found = Digest::MD5.hexdigest(content)
      raise Chef::Exceptions::ChecksumMismatch.new(record.checksum[0, 6], found[0, 6]) if found != record.checksum
      Chef::Log.info("Storing updated cookbooks/#{name}/#{record.path} in the cache.")
      Chef::FileCache.store(::File.join("cookbooks", name, record.path), content, 0600)
    end

    def api = @api ||= Chef::ServerAPI.new
  end
end
