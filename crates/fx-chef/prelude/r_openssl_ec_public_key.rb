# openssl_ec_public_key: the public part of a key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslEcPublicKey < FxOpenssl
      action(:create) { put_public_key("EC") }
    end
  end
end
