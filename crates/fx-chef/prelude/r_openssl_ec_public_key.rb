# openssl_ec_public_key: the public part of a key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslEcPublicKey < FxOpenssl
      action(:create) do
        r = new_resource
        raise ArgumentError, "You cannot specify both 'private_key_path' and 'private_key_content' properties at the same time." if r.private_key_path && r.private_key_content
        raise ArgumentError, "You must specify the private key with either 'private_key_path' or 'private_key_content' properties." unless r.private_key_path || r.private_key_content
        raise "#{r.private_key_path} not a valid private key file" if r.private_key_path && !private_key?(r.private_key_path, r.private_key_pass)
        word = pass("-passin", r.private_key_pass)
        text = r.private_key_path ? openssl("pkey", "-in", r.private_key_path, *word, "-pubout") : openssl("pkey", *word, "-pubout", input: r.private_key_content)
        put(r.path, text, hide: false)
      end
    end
  end
end
