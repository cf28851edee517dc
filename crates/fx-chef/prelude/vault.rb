# Items whose secret is kept once for each client that may read them, locked with its public key.
class Chef
  module FxVault
    class KeysNotFound < StandardError; end
    class SecretDecryption < StandardError; end

    # The opened item; one that is no vault is read as the plain item that it is.
    def self.item(bag, id)
      keys = keys_of(bag, id) or return nil
      name = Chef::Config[:node_name]
      locked = keys[name] || sparse(bag, id, name)
      secret = locked && FX.unlock(Chef::Config[:client_key], Base64.decode64(locked))
      unless secret
        raise SecretDecryption, "#{bag}/#{id} is not encrypted with your public key.  Contact an administrator of " \
          "the vault item to encrypt for you!"
      end
      Chef::EncryptedDataBagItem.new(Chef::DataBagItem.load(bag, id).raw_data, secret)
    end

    def self.keys_of(bag, id) = optional(bag, "#{id}_keys")&.raw_data
    # Each client's copy of the secret may be an item of its own.
    def self.sparse(bag, id, name) = optional(bag, "#{id}_key_#{name}")&.then { |item| item[name] }

    def self.optional(bag, id)
      Chef::DataBagItem.load(bag, id)
    rescue Net::HTTPServerException
      nil
    end
  end
end
