# openssl_rsa_public_key: the public part of a key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslRsaPublicKey < FxOpenssl
      action(:create) { put_public_key("RSA") }
    end
  end
end
