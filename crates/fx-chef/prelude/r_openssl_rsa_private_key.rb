# openssl_rsa_private_key: an RSA key, made once.
FX.load("chef/openssl_shared.rb")
class Chef
  class Resource
    class OpensslRsaPrivateKey
      property :key_cipher, String, default: lazy { "des3" }
    end
  end
  class Provider
    class OpensslRsaPrivateKey < FxOpenssl
      # In this version of the original `force` keeps it from doing anything.
      action(:create) do
        r = new_resource
        unless r.force || private_key?(r.path, r.key_pass)
          fx_change("create #{r.key_length} bit RSA key #{r.path}", made(r.path, :private_key)) do
            put(r.path, sealed(new_rsa(r.key_length), r.key_pass, r.key_cipher))
          end
        end
      end
    end
  end
end
