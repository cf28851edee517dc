# openssl_x509_request: a request for a certificate, with its key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslX509Request < FxOpenssl
      action(:create) do
        r = new_resource
        unless ::File.exist?(r.path)
          fx_change("Create CSR #{r}", made(r.path, :csr)) do
            put(r.path, request.to_pem, hide: false)
            put(key_path, key.to_pem, :create_if_missing)
          end
        end
      end
    end
  end
end
