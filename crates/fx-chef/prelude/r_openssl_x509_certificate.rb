# openssl_x509_certificate: a certificate signed by itself or by an authority, with its key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslX509Certificate < FxOpenssl
      def extensions
        r = new_resource
        given = r.extensions
        unless r.subject_alt_name.empty?
          given = given.merge("subjectAltName" => { "values" => r.subject_alt_name, "critical" => false })
        end
        given.map do |name, e|
          raise TypeError, "#{name} must contain a Ruby Hash" unless e.is_a?(Hash)
          unless e.key?("values") && e.key?("critical")
            raise ArgumentError, "keys in #{name} must be 'values' and 'critical'"
          end
          raise TypeError, "the key 'values' must contain a Ruby Arrays" unless e["values"].is_a?(Array)
          unless [true, false].include?(e["critical"])
            raise TypeError, "the key 'critical' must be a Ruby Boolean true/false"
          end
          ::OpenSSL::X509::ExtensionFactory.new.create_extension(name, e["values"].join(","), e["critical"])
        end
      end
      def signer
        r = new_resource
        r.ca_key_file ? ::OpenSSL::PKey.read(::File.read(r.ca_key_file), r.ca_key_pass) : key
      end
      def certificate
        r = new_resource
        csr = r.csr_file ? ::OpenSSL::X509::Request.new(::File.read(r.csr_file)) : request
        cert = ::OpenSSL::X509::Certificate.new
        factory = ::OpenSSL::X509::ExtensionFactory.new
        more = extensions
        cert.serial = ::OpenSSL::BN.new(SecureRandom.hex(20), 16)
        cert.version = 2
        cert.subject = csr.subject
        cert.public_key = csr.public_key
        cert.not_before = Time.now
        cert.not_after = cert.not_before + r.expire * 86_400
        if r.ca_cert_file
          authority = ::OpenSSL::X509::Certificate.new(::File.read(r.ca_cert_file))
          cert.issuer = authority.subject
          factory.issuer_certificate = authority
        else
          cert.issuer = csr.subject
          factory.issuer_certificate = cert
          more << factory.create_extension("basicConstraints", "CA:TRUE", true)
        end
        factory.subject_certificate = cert
        cert.extensions = more
        cert.add_extension(factory.create_extension("subjectKeyIdentifier", "hash"))
        cert.add_extension(factory.create_extension("authorityKeyIdentifier", "keyid:always,issuer:always"))
        cert.sign(signer, ::OpenSSL::Digest.new("SHA256"))
        cert
      end
      def due?(path, days)
        return true unless ::File.exist?(path)
        ::OpenSSL::X509::Certificate.new(::File.read(path)).not_after <= Time.now + 86_400 * days
      rescue ::OpenSSL::X509::CertificateError
        true
      end
      action(:create) do
        r = new_resource
        fresh = !::File.exist?(r.path)
        put(r.path, fresh && !whyrun_mode? ? certificate.to_pem : nil, :create_if_missing, hide: false)
        put(r.path, certificate.to_pem) if !fresh && r.renew_before_expiry && due?(r.path, r.renew_before_expiry)
        put(key_path, ::File.exist?(key_path) || whyrun_mode? ? nil : key.to_pem, :create_if_missing) if r.csr_file.nil?
      end
    end
  end
end
