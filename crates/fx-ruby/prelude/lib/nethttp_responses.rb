# Answers of servers and the errors that they are raised as, without what sends requests.
module Net
  class HTTPError_ < StandardError
    attr_reader :response
    alias data response
    def initialize(message = nil, response = nil)
      super(message)
      @response = response
    end
  end
  class HTTPResponse
    attr_reader :code, :body, :message
    REASONS = { 200 => "OK", 201 => "Created", 204 => "No Content", 301 => "Moved Permanently", 302 => "Found",
      304 => "Not Modified", 400 => "Bad Request", 401 => "Unauthorized", 403 => "Forbidden", 404 => "Not Found",
      405 => "Method Not Allowed", 406 => "Not Acceptable", 408 => "Request Timeout", 409 => "Conflict",
      410 => "Gone", 412 => "Precondition Failed", 413 => "Request Entity Too Large", 415 => "Unsupported Media Type",
      422 => "Unprocessable Entity", 429 => "Too Many Requests", 500 => "Internal Server Error",
      501 => "Not Implemented", 502 => "Bad Gateway", 503 => "Service Unavailable", 504 => "Gateway Timeout" }.freeze
    def initialize(s, h, b) = (@code, @h, @body, @message = s.to_s, h, b, REASONS[s].to_s)
    # The answer in the class of its code.
    def self.fx_made(status, headers, body)
      kinds = [HTTPInformation, HTTPSuccess, HTTPRedirection, HTTPClientError, HTTPServerError]
      (NAMED[status] || kinds[status / 100 - 1] || self).new(status, headers, body)
    end
    def [](k) = @h[k.downcase]
    def each_header(&b) = @h.each(&b)
    def to_hash = @h.transform_values { |v| [v] }
    def value = (raise HTTPError_, "#{code}" unless code.start_with?("2"); nil)
    def read_body = @body
    def content_type = self["content-type"].to_s.split(";")[0]
    def http_version = "1.1"
  end
  class HTTPInformation < HTTPResponse; end
  class HTTPSuccess < HTTPResponse; end
  class HTTPOK < HTTPSuccess; end
  class HTTPCreated < HTTPSuccess; end
  class HTTPNoContent < HTTPSuccess; end
  class HTTPRedirection < HTTPResponse; end
  class HTTPClientError < HTTPResponse; end
  class HTTPServerError < HTTPResponse; end
  HTTPResponse::NAMED = { 200 => HTTPOK, 201 => HTTPCreated, 204 => HTTPNoContent }
  { HTTPClientError => { 400 => :BadRequest, 401 => :Unauthorized, 403 => :Forbidden, 404 => :NotFound,
      405 => :MethodNotAllowed, 406 => :NotAcceptable, 409 => :Conflict, 412 => :PreconditionFailed,
      413 => :RequestEntityTooLarge },
    HTTPServerError => { 500 => :InternalServerError, 502 => :BadGateway, 503 => :ServiceUnavailable,
      504 => :GatewayTimeout } }.each do |kind, names|
    names.each { |code, name| HTTPResponse::NAMED[code] = const_set(:"HTTP#{name}", Class.new(kind)) }
  end
  class HTTPServerException < HTTPError_; end unless const_defined?(:HTTPServerException, false)
  HTTPClientException = HTTPServerException unless const_defined?(:HTTPClientException, false)
  class HTTPFatalError < HTTPError_; end unless const_defined?(:HTTPFatalError, false)
end
