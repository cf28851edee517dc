# Encrypted data bag items: which they are, and opening them.
class Chef
  class EncryptedDataBagItem
    class DecryptionFailure < StandardError; end
    class UnsupportedEncryptedDataBagItemFormat < StandardError; end
    class UnacceptableEncryptedDataBagItemFormat < StandardError; end
    class UnsupportedCipher < StandardError; end
    class << self
      def encrypted?(raw)
        raw.any? { |k, v| k != "id" && v.is_a?(Hash) && v.key?("encrypted_data") && v.key?("cipher") }
      end
      def load_secret(path = nil)
        path ||= Chef::Config[:encrypted_data_bag_secret]
        if path.nil? && !::File.exist?("/etc/chef/encrypted_data_bag_secret")
          raise ArgumentError, "No secret specified and no secret found at " \
            "#{Chef::Config.platform_specific_path("/etc/chef/encrypted_data_bag_secret")}"
        end
        path ||= "/etc/chef/encrypted_data_bag_secret"
        raise Errno::ENOENT, "file not found '#{path}'" unless ::File.exist?(path)
        secret = (FX.read(path) || ::File.read(path)).strip
        raise ArgumentError, "invalid zero length secret in '#{path}'" if secret.empty?
        secret
      end
      def load(bag, name, secret = nil)
        item = Chef::DataBagItem.load(bag, name)
        new(item.raw_data, secret || load_secret)
      end
      # Every value but the id, as the newest form writes it unless the configuration asks for an older one.
      def encrypt_data_bag_item(plain, secret)
        plain.to_h { |k, v| [k, k == "id" ? v : Encryptor.new(v, secret).for_encrypted_item] }
      end
    end

    # A value to its encrypted form, versions 1 to 3.
    class Encryptor
      def self.new(value, secret, iv = nil)
        version = (Chef::Config[:data_bag_encrypt_version] || 3).to_i
        klass = { 1 => Version1Encryptor, 2 => Version2Encryptor, 3 => Version3Encryptor }[version]
        unless klass
          raise UnsupportedEncryptedDataBagItemFormat,
            "Invalid encrypted data bag format version `#{version}'. Supported versions are '1', '2', '3'"
        end
        item = klass.allocate
        item.send(:initialize, value, secret, iv)
        item
      end
    end
    class Version1Encryptor
      attr_reader :key, :plaintext_data
      def initialize(value, secret, iv = nil)
        @plaintext_data, @key, @iv = value, secret, iv
      end
      def cipher_name = "aes-256-cbc"
      def serialized_data = ::JSON.generate({ "json_wrapper" => @plaintext_data })
      def openssl
        @openssl ||= begin
          c = OpenSSL::Cipher.new(cipher_name)
          c.encrypt
          c.key = OpenSSL::Digest.digest("SHA256", key)
          @iv = @iv ? c.iv = @iv : c.random_iv
          c
        end
      end
      def encrypted_data
        @encrypted_data ||= begin
          c = openssl
          bytes = c.update(serialized_data)
          bytes << c.final
          Base64.encode64(bytes)
        end
      end
      def iv
        openssl
        Base64.encode64(@iv)
      end
      def for_encrypted_item
        { "encrypted_data" => encrypted_data, "iv" => iv, "version" => 1, "cipher" => cipher_name }
      end
    end
    class Version2Encryptor < Version1Encryptor
      def hmac = @hmac ||= Base64.encode64(OpenSSL::HMAC.digest("SHA256", key, encrypted_data))
      def for_encrypted_item
        { "encrypted_data" => encrypted_data, "hmac" => hmac, "iv" => iv, "version" => 2, "cipher" => cipher_name }
      end
    end
    class Version3Encryptor < Version1Encryptor
      def cipher_name = "aes-256-gcm"
      def openssl
        first = @openssl.nil?
        super.tap { |c| c.auth_data = "" if first }
      end
      def auth_tag
        encrypted_data
        Base64.encode64(openssl.auth_tag)
      end
      def for_encrypted_item
        {
          "encrypted_data" => encrypted_data, "iv" => iv, "auth_tag" => auth_tag, "version" => 3,
          "cipher" => cipher_name
        }
      end
    end

    # An encrypted value to its plain form.
    class Decryptor
      def self.for(value, key) = new(value, key)
      def initialize(value, key)
        @value, @key = value, key
        @version = value.is_a?(Hash) && value.key?("version") ? value["version"].to_i : 0
        least = Chef::Config[:data_bag_decrypt_minimum_version]
        if least && @version < least.to_i
          raise UnacceptableEncryptedDataBagItemFormat,
            "The encrypted data bag item has format version `#{@version}', but the config setting " \
            "'data_bag_decrypt_minimum_version' requires version `#{least}'"
        end
        return if (0..3).cover?(@version)
        raise UnsupportedEncryptedDataBagItemFormat,
          "This version of chef does not support encrypted data bag item format version '#{@version}'"
      end
      def for_decrypted_item
        return ::YAML.load(decrypted_data) if @version == 0
        ::JSON.parse(decrypted_data)["json_wrapper"]
      rescue ::JSON::ParserError
        raise DecryptionFailure, "Error decrypting data bag value. Most likely the provided key is incorrect"
      end
      def decrypted_data
        encoded = @version == 0 ? @value : @value["encrypted_data"]
        c = cipher
        text = c.update(Base64.decode64(encoded.to_s))
        text << c.final
      rescue OpenSSL::Cipher::CipherError, ArgumentError => e
        hint = @key.length < 255 && @key.include?("/") ? "You may need to use --secret-file rather than --secret." : ""
        raise DecryptionFailure,
          "Error decrypting data bag value: '#{e.message}'. Most likely the provided key is incorrect. #{hint}"
      end
      def cipher
        name = @version == 3 ? "aes-256-gcm" : "aes-256-cbc"
        if @version > 0 && ![name, "aes-256-cbc"].include?(@value["cipher"].to_s)
          raise UnsupportedCipher,
            "Cipher '#{@value["cipher"]}' is not supported by this version of Chef. Available ciphers: " \
            "['aes-256-cbc', 'aes-256-gcm']"
        end
        check_hmac if @version == 2
        c = OpenSSL::Cipher.new(name)
        c.decrypt
        return old_key(c) if @version == 0
        c.key = OpenSSL::Digest.digest("SHA256", @key)
        c.iv = Base64.decode64(@value["iv"].to_s)
        return c unless @version == 3
        tag = @value["auth_tag"] or raise DecryptionFailure,
          "Error decrypting data bag value: invalid authentication tag. Most likely the data is corrupted"
        c.auth_tag = Base64.decode64(tag)
        c.auth_data = ""
        c
      end
      # Key and start of the oldest form: md5 over and over, as OpenSSL once made them.
      def old_key(c)
        bytes = "".b
        last = "".b
        while bytes.bytesize < 48
          last = OpenSSL::Digest.digest("MD5", last + @key)
          2047.times { last = OpenSSL::Digest.digest("MD5", last) }
          bytes << last
        end
        c.key = bytes[0, 32]
        c.iv = bytes[32, 16]
        c
      end
      def check_hmac
        found = Base64.encode64(OpenSSL::HMAC.digest("SHA256", @key, @value["encrypted_data"].to_s))
        return if found == @value["hmac"]
        raise DecryptionFailure,
          "Error decrypting data bag value: invalid hmac. Most likely the provided key is incorrect"
      end
    end

    attr_reader :enc_hash
    def initialize(raw, secret)
      @enc_hash, @secret = raw, secret
    end
    def [](key)
      v = @enc_hash[key]
      key.to_s == "id" || v.nil? ? v : Decryptor.for(v, @secret).for_decrypted_item
    end
    def []=(*)
      raise ArgumentError, "assignment not supported for #{self.class}"
    end
    def to_h = @enc_hash.keys.to_h { |k| [k, self[k]] }
    alias to_hash to_h
    def keys = @enc_hash.keys
    def to_json(*a) = to_h.to_json(*a)
    def inspect = to_h.inspect
  end
end
