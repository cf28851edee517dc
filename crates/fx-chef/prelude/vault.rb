# Items whose secret is kept once for each client that may read them, locked with its public key: what
# the library chef-vault gives to recipes. Vaults are made elsewhere.
class ChefVault
  class Exceptions < RuntimeError
    %i{SecretDecryption KeysNotFound ItemNotFound}.each { |name| const_set(name, Class.new(self)) }
  end

  class Item < Chef::DataBagItem
    class << self
      def vault?(bag, id) = data_bag_item_type(bag, id) == :vault

      def data_bag_item_type(bag, id)
        item = found(bag, id, Exceptions::ItemNotFound, "not found")
        return :normal unless item.raw_data.any? { |_, v| v.is_a?(Hash) && v.key?("encrypted_data") }
        Chef::DataBag.load(bag).key?("#{id}_keys") ? :vault : :encrypted
      end

      # The opened item.
      def load(bag, id, node_name: Chef::Config[:node_name], client_key_path: Chef::Config[:client_key],
        client_key_contents: Chef::Config[:client_key_contents])
        keys = found(bag, "#{id}_keys", Exceptions::KeysNotFound).raw_data
        locked = locked(bag, id, keys, node_name) or raise Exceptions::SecretDecryption,
          "#{bag}/#{id} is not encrypted with your public key.  " \
          "Contact an administrator of the vault item to encrypt for you!"
        secret = FX.unlock(client_key_path, Base64.decode64(locked), client_key_contents)
        secret or raise Exceptions::SecretDecryption, "#{failed(bag, id)}  (if you regenerated your client key, " \
          "have an administrator of the vault run 'knife vault refresh')"
        opened(bag, id, secret)
      end

      private

      def opened(bag, id, secret)
        shut = found(bag, id, Exceptions::ItemNotFound)
        item = from_hash(Chef::EncryptedDataBagItem.new(shut.raw_data, secret).to_hash)
        item.data_bag = bag.to_s
        item
      rescue Chef::EncryptedDataBagItem::DecryptionFailure
        raise Exceptions::SecretDecryption, failed(bag, id)
      end

      def failed(bag, id) = "#{bag}/#{id} is encrypted for you, but your private key failed to decrypt the contents."

      # The copy of the secret for a client; each may be an item of its own.
      def locked(bag, id, keys, name)
        if keys["mode"] == "sparse"
          own = found(bag, "#{id}_key_#{name}", nil)
          return own[name] if own
        end
        keys[name]
      end

      def found(bag, id, missing, words = "could not be found")
        Chef::DataBagItem.load(bag, id)
      rescue Net::HTTPClientException => e
        raise unless e.response.code == "404"
        missing and raise missing, "#{bag}/#{id} #{words}"
      end
    end
  end
end
