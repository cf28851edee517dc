# openssl_ec_private_key: an elliptic curve key, made once.
FX.load("chef/openssl_shared.rb")
class Chef
  class Resource
    class OpensslEcPrivateKey
      property :key_cipher, String, default: lazy { "des3" }
    end
  end
  class Provider
    class OpensslEcPrivateKey < FxOpenssl
      action(:create) do
        r = new_resource
        unless r.force || private_key?(r.path, r.key_pass)
          fx_change("Create an EC private key #{r.path}", made(r.path, :private_key)) do
            declare_resource(:log, "Generating an #{r.key_curve} EC key file at #{r.path}, this may take some time")
            put(r.path, sealed(new_ec(r.key_curve), r.key_pass, r.key_cipher))
          end
        end
      end
    end
  end
end
