# OpenSSL::PKCS7 as far as opening an envelope goes; PKCS12 is refused by name.
module OpenSSL
  class PKCS7
    class PKCS7Error < OpenSSLError; end
    BINARY = 0x80
    def initialize(data)
      _, _, der = PEM_.read(data.to_s, "PKCS7")
      @der = der || data.to_s.b
    end
    def to_der = @der
    def to_pem = PEM_.write("PKCS7", @der)
    alias to_s to_pem
    def decrypt(key, _certificate = nil, _flags = 0)
      OpenSSL.__envelope_open(@der, key.to_der)
    rescue OpenSSLError => e
      raise PKCS7Error, e.message
    end
    def self.encrypt(*) = raise(NotImplementedError, "making PKCS#7 envelopes is not supported")
    def self.sign(*) = raise(NotImplementedError, "signing PKCS#7 messages is not supported")
  end
  class PKCS12
    class PKCS12Error < OpenSSLError; end
    def self.create(*) = raise(NotImplementedError, "PKCS#12 files are not supported: use `openssl pkcs12`")
    def initialize(*) = raise(NotImplementedError, "PKCS#12 files are not supported: use `openssl pkcs12`")
  end
end
