# Encrypted data bag items: which they are, and opening them.
class Chef
  class EncryptedDataBagItem
    class DecryptionFailure < StandardError; end
    class UnsupportedEncryptedDataBagItemFormat < StandardError; end
    class << self
      def encrypted?(raw)
        raw.any? { |k, v| k != "id" && v.is_a?(Hash) && v.key?("encrypted_data") && v.key?("cipher") }
      end
      def load_secret(path = nil)
        path ||= Chef::Config[:encrypted_data_bag_secret]
        raise ArgumentError, "No secret specified and no secret found at #{Chef::Config.platform_specific_path("/etc/chef/encrypted_data_bag_secret")}" if path.nil? && !::File.exist?("/etc/chef/encrypted_data_bag_secret")
        path ||= "/etc/chef/encrypted_data_bag_secret"
        raise Errno::ENOENT, "file not found '#{path}'" unless ::File.exist?(path)
        secret = ::File.read(path).strip
        raise ArgumentError, "invalid zero length secret in '#{path}'" if secret.empty?
        secret
      end
      def load(bag, name, secret = nil)
        item = Chef::DataBagItem.load(bag, name)
        new(item.raw_data, secret || load_secret)
      end
      def encrypt_data_bag_item(*)
        raise NotImplementedError, "encrypting data bag items is not supported yet"
      end
    end
    def initialize(raw, secret) = (@raw, @secret = raw, secret)
    def [](key)
      v = @raw[key]
      key.to_s == "id" || v.nil? ? v : open_value(v)
    end
    def []=(*)
      raise ArgumentError, "assignment not supported for #{self.class}"
    end
    def to_h = @raw.keys.to_h { |k| [k, self[k]] }
    alias to_hash to_h
    def keys = @raw.keys
    def to_json(*a) = to_h.to_json(*a)
    def inspect = to_h.inspect
    def open_value(v)
      raise NotImplementedError, "data bag items encrypted with #{v["cipher"]} are not supported yet" unless FX.respond_to?(:decrypt)
      text = FX.decrypt(v["version"], v["cipher"].to_s, v["encrypted_data"].to_s, v["iv"].to_s, v["auth_tag"].to_s, v["hmac"].to_s, @secret)
      raise DecryptionFailure, "Error decrypting data bag value. Most likely the provided key is incorrect" if text.nil?
      ::JSON.parse(text)["json_wrapper"]
    end
  end
end
