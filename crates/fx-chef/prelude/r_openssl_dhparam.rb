# openssl_dhparam: parameters for a key exchange.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslDhparam < FxOpenssl
      action(:create) do
        r = new_resource
        valid = ::File.exist?(r.path) && quietly("dhparam", "-in", r.path, "-noout")&.exitstatus == 0
        put(r.path, valid || whyrun_mode? ? nil : openssl("dhparam", "-#{r.generator}", r.key_length))
      end
    end
  end
end
