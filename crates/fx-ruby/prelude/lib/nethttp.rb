require "uri"
require "net/http/responses"
class SocketError < StandardError; end unless defined?(SocketError)
module Net
  class OpenTimeout < StandardError; end
  class ReadTimeout < StandardError; end
  class HTTP
    class Request_
      attr_accessor :body, :path
      # Names of fields are the same in any case, and are sent as they were written first.
      def initialize(u, h = {})
        @path = u.respond_to?(:request_uri) ? u.request_uri : u.to_s
        @fields = (h || {}).to_h { |k, v| [k.to_s, [v.to_s]] }
      end
      def headers = @fields.transform_values { |all| all.join(", ") }
      def []=(k, v)
        v.nil? ? delete(k) : @fields[__name(k)] = [v.to_s]
      end
      def [](k) = get_fields(k)&.join(", ")
      def key?(k) = @fields.key?(__name(k))
      def delete(k) = @fields.delete(__name(k))
      def add_field(k, v)
        (@fields[__name(k)] ||= []) << v.to_s
      end
      def get_fields(k) = @fields[__name(k)]&.dup
      def fetch(k, *d, &b) = headers.fetch(__name(k), *d, &b)
      def each_header(&b)
        return enum_for(:each_header) unless b
        headers.each { |k, v| b.(k.downcase, v) }
      end
      alias each each_header
      def to_hash = @fields.transform_keys(&:downcase)
      def basic_auth(u, p) = (self["Authorization"] = "Basic " + ["#{u}:#{p}"].pack("m0"))
      def set_form_data(h, *)
        self["Content-Type"] = "application/x-www-form-urlencoded"
        @body = URI.encode_www_form(h)
      end
      alias form_data= set_form_data
      def content_type=(t)
        self["Content-Type"] = t
      end
      def content_type = self["Content-Type"]&.split(";")&.first&.strip
      def method = self.class::METHOD
      def request_body_permitted? = self.class::REQUEST_HAS_BODY
      def response_body_permitted? = self.class::RESPONSE_HAS_BODY
      def __name(k)
        k = k.to_s
        @fields.key?(k) ? k : @fields.each_key.find { |name| name.casecmp?(k) } || k
      end
    end
    # Whether a request of this kind has a body, and whether its answer has one.
    {
      Get: [false, true], Head: [false, false], Post: [true, true], Put: [true, true], Patch: [true, true],
      Delete: [false, true], Options: [false, true], Trace: [false, true], Propfind: [true, true],
      Proppatch: [true, true], Mkcol: [true, true], Copy: [false, true], Move: [false, true], Lock: [true, true],
      Unlock: [true, true],
    }.each do |name, (sends, answers)|
      kind = const_set(name, Class.new(Request_))
      kind.const_set(:METHOD, name.to_s.upcase)
      kind.const_set(:REQUEST_HAS_BODY, sends)
      kind.const_set(:RESPONSE_HAS_BODY, answers)
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
    def head(p, h = {}) = request(Head.new(p, h))
    def options(p, h = {}) = request(Options.new(p, h))
    def trace(p, h = {}) = request(Trace.new(p, h))
    def delete(p, h = { "Depth" => "Infinity" }) = request(Delete.new(p, h))
    def copy(p, h = {}) = request(Copy.new(p, h))
    def move(p, h = {}) = request(Move.new(p, h))
    def post(p, d, h = {}) = request(Post.new(p, h), d)
    def put(p, d, h = {}) = request(Put.new(p, h), d)
    def patch(p, d, h = {}) = request(Patch.new(p, h), d)
    def propfind(p, d = nil, h = { "Depth" => "0" }) = request(Propfind.new(p, h), d)
    def proppatch(p, d, h = {}) = request(Proppatch.new(p, h), d)
    def mkcol(p, d = nil, h = {}) = request(Mkcol.new(p, h), d)
    def lock(p, d, h = {}) = request(Lock.new(p, h), d)
    def unlock(p, d, h = {}) = request(Unlock.new(p, h), d)
    def request_get(p, h = {}, &b) = __yielded(get(p, h), &b)
    def request_head(p, h = {}, &b) = __yielded(head(p, h), &b)
    def request_post(p, d, h = {}, &b) = __yielded(post(p, d, h), &b)
    def request_put(p, d, h = {}, &b) = __yielded(put(p, d, h), &b)
    alias get2 request_get
    alias head2 request_head
    alias post2 request_post
    alias put2 request_put
    def send_request(name, p, d = nil, h = nil)
      name = name.to_s.upcase
      kind = Request_.subclasses.find { |known| known::METHOD == name }
      kind ||= Class.new(Request_) { const_set(:METHOD, name) }
      request(kind.new(p, h || {}), d)
    end
    def __yielded(answer)
      yield answer if block_given?
      answer
    end
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
