# HTTP for cookbooks, over net/http of the runtime.
class Chef
  class HTTP
    def initialize(url, options = {}) = (@url, @options = url, options)
    attr_reader :url
    %w{get delete head}.each do |m|
      define_method(m) { |path, headers = {}| Simple.request(m.upcase, join(path), headers, nil) }
    end
    %w{post put}.each do |m|
      define_method(m) { |path, body, headers = {}| Simple.request(m.upcase, join(path), headers, body) }
    end
    def join(path) = path.to_s.match?(%r{\Ahttps?://}) ? path.to_s : "#{@url}/#{path}".gsub(%r{(?<!:)//+}, "/")

    module Simple
      # A server that is not there is asked again, a few times, with a pause before each.
      def self.again(uri)
        tries, most = 0, Chef::Config[:http_retry_count]
        begin
          tries += 1
          yield
        rescue SocketError, Errno::ETIMEDOUT, Errno::ECONNRESET, Errno::ECONNREFUSED, Timeout::Error => e
          what = case e
                 when Errno::ECONNREFUSED then "Connection refused connecting"
                 when Timeout::Error then "Timeout connecting"
                 else "Error connecting"
                 end
          if tries <= most
            Chef::Log.warn("#{what} to #{uri}, retry #{tries}/#{most}")
            sleep(Chef::Config[:http_retry_delay])
            retry
          end
          raise e.class, what == "Error connecting" ? "#{what} to #{uri} - #{e.message}" :
            "#{what} to #{uri}, giving up"
        end
      end
      def self.fetch(uri, headers) = request("GET", uri, headers, nil)
      def self.request(method, uri, headers, body)
        require "net/http"
        u = URI(uri)
        klass = Net::HTTP.const_get(method.capitalize)
        req = klass.new(u)
        headers.each { |k, v| req[k] = v }
        req.body = body if body
        res = again(uri) { Net::HTTP.start(u.host, u.port, use_ssl: u.scheme == "https") { |h| h.request(req) } }
        code = res.code.to_i
        if code >= 400
          Chef::Exceptions
          raise Net::HTTPServerException.new("#{code} \"#{res.message}\"", res)
        end
        res.body
      end
    end
  end
  class ServerAPI < HTTP; end
end
