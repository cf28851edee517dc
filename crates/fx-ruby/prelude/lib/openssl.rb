require "digest"
module OpenSSL
  VERSION = "3.0.0"
  class OpenSSLError < StandardError; end
  class Digest < ::Digest::Class
    def initialize(n, data = nil) = (@n = n.to_s.upcase.delete("-"); super(); update(data) if data)
    def algo_ = @n
    def name = @n
    %w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].each { |n| const_set(n, ::Class.new(self) { define_method(:initialize) { |d = nil| super(n, d) } }) }
    def self.digest(n, d) = new(n).digest(d)
    def self.hexdigest(n, d) = new(n).hexdigest(d)
  end
  class HMAC
    def self.digest(d, key, data)
      d = Digest.new(d) unless Digest === d
      n = d.algo_
      b = %w[SHA384 SHA512].include?(n) ? 128 : 64
      key = ::Digest.__hash(n, key) if key.bytesize > b
      key = key.b.ljust(b, "\0")
      i = key.bytes.map { |x| (x ^ 0x36).chr }.join.b
      o = key.bytes.map { |x| (x ^ 0x5c).chr }.join.b
      ::Digest.__hash(n, o + ::Digest.__hash(n, i + data.b))
    end
    def self.hexdigest(d, k, v) = digest(d, k, v).unpack1("H*")
  end
  module SSL; VERIFY_NONE = 0; VERIFY_PEER = 1; end
  module X509; class CertificateError < OpenSSLError; end; end
end
