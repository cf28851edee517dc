# OpenSSL::Cipher. The text is gathered and worked on at `final`; `update` of a block
# cipher gives what real OpenSSL would only in sum.
module OpenSSL
  class Cipher
    class CipherError < OpenSSLError; end
    def self.ciphers = OpenSSL.__ciphers
    attr_accessor :auth_data
    attr_reader :name
    def initialize(name)
      row = OpenSSL.__cipher(name.to_s) or Cipher.refuse(name.to_s)
      @name, @key_len, @iv_len, @block, @aead = row
      @pad, @auth_data, @text, @iv = true, "".b, "".b, "\0" * @iv_len
    end
    # A name that is listed but cannot be used is another error than one nobody knows.
    def self.refuse(name)
      raise CipherError, "unsupported" if ciphers.any? { |known| known.casecmp?(name) }
      raise RuntimeError, "unsupported cipher algorithm (#{name})"
    end
    def initialize_copy(o) = (super; @text = @text.dup)
    def encrypt(*) = (@way = :encrypt; self)
    def decrypt(*) = (@way = :decrypt; self)
    def key_len = @key_len
    def iv_len = @iv_len
    def block_size = @block
    def authenticated? = @aead
    def padding=(n)
      @pad = n != 0
    end
    def key=(k)
      raise ArgumentError, "key must be #{@key_len} bytes" unless k.bytesize == @key_len
      @key = k.b
    end
    def iv=(v)
      raise ArgumentError, "iv must be #{@iv_len} bytes" unless v.bytesize == @iv_len
      @iv = v.b
    end
    def random_key = (self.key = SecureRandom.bytes(@key_len))
    def random_iv = (self.iv = SecureRandom.bytes(@iv_len))
    def auth_tag(n = 16) = @tag.byteslice(0, n)
    def auth_tag=(t)
      @tag = t.b
    end
    def auth_tag_len=(n); end
    def reset = (@text = "".b; self)
    def pkcs5_keyivgen(pass, salt = nil, count = 2048, digest = "MD5")
      bytes = Cipher.bytes_to_key(digest, pass, salt, count, @key_len + @iv_len)
      @key, @iv = bytes.byteslice(0, @key_len), bytes.byteslice(@key_len, @iv_len)
      nil
    end
    def self.bytes_to_key(digest, pass, salt, count, length)
      out, last = "".b, "".b
      while out.bytesize < length
        last += pass.b + salt.to_s.b
        count.times { last = OpenSSL::Digest.digest(digest, last) }
        out << last
      end
      out.byteslice(0, length)
    end
    def update(data, _buffer = nil)
      raise ArgumentError, "data must not be empty" if data.empty?
      @text << data.b
      "".b
    end
    alias << update
    def final
      raise CipherError, "no key set" unless @key
      if @way == :decrypt
        OpenSSL.__decrypt(@name, @key, @iv, @text, @pad, @auth_data.b, @tag || "".b)
      else
        out, @tag = OpenSSL.__encrypt(@name, @key, @iv, @text, @pad, @auth_data.b)
        out
      end
    rescue CipherError
      raise
    rescue OpenSSLError => e
      raise CipherError, @aead ? "" : e.message
    ensure
      @text = "".b
    end
    { AES: 256, AES128: nil, AES256: nil, DES: nil }.each do |n, bits|
      const_set(n, ::Class.new(self) do
        define_method(:initialize) do |b = bits, mode = "CBC"|
          super(n == :DES ? "DES-EDE3-#{mode}" : "AES-#{b || n.to_s[/\d+/]}-#{mode}")
        end
      end)
    end
  end
end
require "securerandom"
