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
    def initialize(key, digest)
      @key, @algorithm, @data = key, digest, +""
    end
    def update(data) = (@data << data; self)
    alias << update
    def reset = (@data = +""; self)
    def digest = HMAC.digest(@algorithm, @key, @data)
    def hexdigest = digest.unpack1("H*")
    alias to_s hexdigest
  end
  module KDF
    class KDFError < OpenSSLError; end
    def self.pbkdf2_hmac(pass, salt:, iterations:, length:, hash:)
      out = "".b
      block = 0
      while out.bytesize < length
        block += 1
        u = HMAC.digest(hash, pass, salt.b + [block].pack("N"))
        t = u.unpack("N*")
        (iterations - 1).times do
          u = HMAC.digest(hash, pass, u)
          u.unpack("N*").each_with_index { |x, i| t[i] ^= x }
        end
        out << t.pack("N*")
      end
      out[0, length]
    end
  end
  module PKCS5
    def self.pbkdf2_hmac(pass, salt, iter, len, digest) = KDF.pbkdf2_hmac(pass, salt: salt, iterations: iter, length: len, hash: digest)
    def self.pbkdf2_hmac_sha1(pass, salt, iter, len) = pbkdf2_hmac(pass, salt, iter, len, "SHA1")
  end
  module SSL; VERIFY_NONE = 0; VERIFY_PEER = 1; end
  module X509; class CertificateError < OpenSSLError; end; end
end
