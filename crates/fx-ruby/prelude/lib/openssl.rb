require "digest"
module OpenSSL
  VERSION = "3.0.1"
  OPENSSL_VERSION = OPENSSL_LIBRARY_VERSION = "OpenSSL 3.0.0 (fixpoint)"
  class OpenSSLError < StandardError; end
  autoload :BN, "openssl/bn"
  autoload :ASN1, "openssl/asn1"
  autoload :Cipher, "openssl/cipher"
  autoload :PKey, "openssl/pkey"
  autoload :X509, "openssl/x509"
  autoload :PKCS7, "openssl/pkcs"
  autoload :PKCS12, "openssl/pkcs"
  autoload :PEM_, "openssl/asn1"
  class Digest < ::Digest::Class
    class DigestError < OpenSSLError; end
    def initialize(n, data = nil)
      @n = (Digest === n ? n.name : n.to_s).upcase.delete("-")
      unless %w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].include?(@n)
        raise RuntimeError, "Unsupported digest algorithm (#{n}).: unknown object name"
      end
      super()
      update(data) if data
    end
    def initialize_copy(o) = (super; @n = o.name)
    def algo_ = @n
    def name = @n
    %w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].each do |n|
      const_set(n, ::Class.new(self) do
        define_method(:initialize) { |d = nil| super(n, d) }
        %i[digest hexdigest base64digest].each { |m| define_singleton_method(m) { |d| new.__send__(m, d) } }
      end)
    end
    def self.digest(n, d) = new(n).digest(d)
    def self.hexdigest(n, d) = new(n).hexdigest(d)
    def self.base64digest(n, d) = new(n).base64digest(d)
  end
  class HMAC
    def self.digest(d, key, data)
      d = Digest.new(d) unless Digest === d
      ::Digest.__hmac(d.algo_, key, data)
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
      hash = Digest.new(hash) unless Digest === hash
      ::Digest.__pbkdf2(hash.algo_, pass, salt, iterations, length) or
        raise KDFError, "PKCS5_PBKDF2_HMAC: invalid iteration count"
    end
  end
  module PKCS5
    def self.pbkdf2_hmac(pass, salt, iter, len, digest)
      KDF.pbkdf2_hmac(pass, salt: salt, iterations: iter, length: len, hash: digest)
    end
    def self.pbkdf2_hmac_sha1(pass, salt, iter, len) = pbkdf2_hmac(pass, salt, iter, len, "SHA1")
  end
  module SSL
    VERIFY_NONE, VERIFY_PEER, VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_CLIENT_ONCE = 0, 1, 2, 4
    TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION = 0x301, 0x302, 0x303, 0x304
    class SSLError < OpenSSLError; end
    autoload :SSLContext, "openssl/ssl"
    autoload :SSLSocket, "openssl/ssl"
  end
  def self.secure_compare(a, b)
    fixed_length_secure_compare(Digest.digest("SHA256", a), Digest.digest("SHA256", b)) && a == b
  end
  def self.fixed_length_secure_compare(a, b)
    raise ArgumentError, "inputs must be of equal length" unless a.bytesize == b.bytesize
    x = 0
    a.bytes.each_with_index { |c, i| x |= c ^ b.getbyte(i) }
    x == 0
  end
  def self.fips_mode = false
end
