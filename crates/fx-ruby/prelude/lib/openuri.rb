require "net/http"
require "stringio"
module OpenURI
  class HTTPError < StandardError
    attr_reader :io
    def initialize(message, io) = (super(message); @io = io)
  end
  def self.__fetch(uri)
    http = Net::HTTP.new(uri.host, uri.port)
    http.use_ssl = uri.scheme == "https"
    headers = uri.userinfo ? { "Authorization" => "Basic " + [uri.userinfo].pack("m0") } : {}
    got = http.get(uri.request_uri, headers)
    raise HTTPError.new("#{got.code} #{got.message}".strip, StringIO.new(got.body)) unless got.code.start_with?("2")
    got.body
  end
  module OpenRead
    def read(*) = OpenURI.__fetch(self)
    def open(*)
      io = StringIO.new(read)
      block_given? ? yield(io) : io
    end
  end
end
module URI
  class HTTP
    include OpenURI::OpenRead
  end
  def self.open(name, *rest, &block)
    uri = name.is_a?(URI::Generic) ? name : URI.parse(name.to_s)
    uri.respond_to?(:read) ? uri.open(*rest, &block) : Kernel.open(name.to_s, *rest, &block)
  end
end
