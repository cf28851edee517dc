# remote_file: a file from an address.
class Chef
  class Resource
    class RemoteFile
      def initialize(name, run_context = nil)
        super
        @source = []
      end
      def source(*args)
        return (@source.is_a?(Chef::DelayedEvaluator) ? Array(instance_eval(&@source)) : @source) if args.empty?
        if args[0].is_a?(Chef::DelayedEvaluator)
          @source = args[0]
        else
          list = args.flatten
          raise ArgumentError, "#{resource_name} has an empty source" if list.empty?
          list.each do |s|
            unless s.to_s.match?(%r{\A([a-zA-Z][a-zA-Z0-9+.-]*:|//|\\\\)})
              raise Chef::Exceptions::InvalidRemoteFileURI,
                "#{s.inspect} is not a valid `source` parameter for #{resource_name}. `source` must be an absolute " \
                "URI or an array of URIs."
            end
          end
          @source = list
        end
      end
      def source=(*args)
        source(*args)
      end
      property :checksum, String
      def use_conditional_get(*) = true
      def after_created
        u, d = (respond_to?(:remote_user) ? remote_user : nil), (respond_to?(:remote_domain) ? remote_domain : nil)
        instance_variable_set(:@remote_user, u)
        instance_variable_set(:@remote_domain, d)
        super
      end
    end
  end
  class Provider
    class RemoteFile < File
      def content_of
        return @content if @content
        r = new_resource
        if r.checksum && ::File.exist?(@path) && ::File.file?(@path)
          require "digest"
          return nil if Digest::SHA256.file(@path).hexdigest.start_with?(r.checksum)
        end
        errors = nil
        r.source.each do |uri|
          begin
            @content = fetch(uri.to_s)
            break
          rescue StandardError => e
            errors = e
            Chef::Log.warn("#{r} cannot be downloaded from #{uri}: #{e.message}")
          end
        end
        raise errors if @content.nil? && errors
        if r.checksum
          require "digest"
          got = @content.is_a?(Array) ? Digest::SHA256.file(@content.first).hexdigest :
            Digest::SHA256.hexdigest(@content)
          raise Chef::Exceptions::ChecksumMismatch.new(r.checksum[0, 6], got[0, 6]) unless got.start_with?(r.checksum)
        end
        @content
      end
      # What is large is copied as a stream, and given by its path.
      LARGE = 10_000_000
      def local(path)
        large = ::File.size(path) > LARGE && !new_resource.fx_verified?
        large ? [path] : ::File.binread(path)
      end
      def fetch(uri)
        case uri
        when %r{\Afile://(localhost)?(/.*)\z}
          plain = $2
          path = URI::DEFAULT_PARSER.unescape(plain)
          local(::File.exist?(path) ? path : plain)
        when %r{\Ahttps?://}
          Chef::HTTP::Simple.fetch(uri, new_resource.headers || {})
        else
          unless uri.start_with?("ftp")
            raise ArgumentError, "Invalid uri, Only http(s), ftp, and file are currently supported"
          end
          raise NotImplementedError, "remote_file does not support #{uri} yet"
        end
      end
    end
  end
end
