require "uri"
require "net/http/responses"
class SocketError < StandardError; end unless defined?(SocketError)
module Net
  class OpenTimeout < StandardError; end
  class ReadTimeout < StandardError; end
  class HTTP
    class Request_
      attr_accessor :body, :path
      attr_reader :headers
      def initialize(u, h = {})
        @path, @headers = (u.respond_to?(:request_uri) ? u.request_uri : u.to_s), (h || {}).to_h do |k, v|
          [k.to_s, v.to_s]
        end
      end
      def []=(k, v)
        @headers[k] = v.to_s
      end
      def [](k) = @headers[k]
      def basic_auth(u, p) = (@headers["Authorization"] = "Basic " + ["#{u}:#{p}"].pack("m0"))
      def set_form_data(h, *)
        self["Content-Type"] = "application/x-www-form-urlencoded"
        @body = URI.encode_www_form(h)
      end
      def content_type=(t)
        self["Content-Type"] = t
      end
      def method = self.class::METHOD
    end
    %w[Get Post Put Delete Head Patch Options].each do |n|
      const_set(n, Class.new(Request_) { const_set(:METHOD, n.upcase) })
    end
    attr_accessor :use_ssl, :verify_mode, :open_timeout, :read_timeout, :ca_file, :cert, :key, :ssl_timeout,
      :write_timeout
    attr_reader :address, :port
    def initialize(h, p = 80, *) = (@address, @port = h, p)
    def use_ssl? = !!@use_ssl
    def self.start(h, p = nil, *a, **o)
      x = new(h, p || (o[:use_ssl] ? 443 : 80))
      x.use_ssl = o[:use_ssl]
      x.read_timeout = o[:read_timeout]
      block_given? ? yield(x) : x
    end
    def start = block_given? ? yield(self) : self
    def finish = nil
    def request(r, b = nil)
      url = "#{use_ssl? ? "https" : "http"}://#{@address}:#{@port}#{r.path}"
      s, h, body = __exchange(r.method, url, r.headers, b || r.body)
      HTTPResponse.fx_made(s, h, body)
    end
    # That there is no connection is reported in the words of Ruby's own library.
    def __exchange(method, url, headers, body)
      Process.__http(method, url, headers, body, @read_timeout)
    rescue SystemCallError => e
      place = "Failed to open TCP connection to #{@address}:#{@port}"
      why = ["Temporary failure in name resolution", "Name or service not known"].find { |w| e.message.include?(w) }
      raise SocketError, "#{place} (getaddrinfo: #{why})" if why
      raise unless e.message.include?("Connection refused (os")
      raise Errno::ECONNREFUSED, "#{place} (Connection refused - connect(2) for \"#{@address}\" port #{@port})"
    end
    def get(p, h = {}) = request(Get.new(p, h))
    def post(p, d, h = {}) = request(Post.new(p, h), d)
    def head(p, h = {}) = request(Head.new(p, h))
    def self.get_response(u, p = nil)
      u = URI.parse(u.to_s) unless URI::Generic === u
      x = new(u.host, u.port)
      x.use_ssl = u.scheme == "https"
      x.get(u.request_uri)
    end
    def self.get(u, *a) = get_response(u, *a).body
    def self.post_form(u, h)
      x = new(u.host, u.port)
      x.use_ssl = u.scheme == "https"
      r = Post.new(u)
      r.set_form_data(h)
      x.request(r)
    end
    def self.post(u, d, h = {})
      x = new(u.host, u.port)
      x.use_ssl = u.scheme == "https"
      x.post(u.request_uri, d, h)
    end
  end
  HTTPBadResponse = Class.new(StandardError)
end
