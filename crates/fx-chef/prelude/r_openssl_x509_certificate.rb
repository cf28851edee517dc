# openssl_x509_certificate: a certificate signed by itself or by an authority, with its key.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslX509Certificate < FxOpenssl
      def extensions
        r = new_resource
        lines = r.extensions.map { |name, e| "#{name}=#{"critical," if e["critical"] || e[:critical]}#{Array(e["values"] || e[:values]).join(",")}" }
        lines << "subjectAltName=#{r.subject_alt_name.join(",")}" unless r.subject_alt_name.empty?
        lines.join("\n") + "\n"
      end
      def signer(k)
        r = new_resource
        return ["-CA", r.ca_cert_file, "-CAkey", r.ca_key_file, *pass("-passin", r.ca_key_pass)] if r.ca_cert_file
        r.ca_key_file ? ["-signkey", r.ca_key_file, *pass("-passin", r.ca_key_pass)] : ["-signkey", k]
      end
      def certificate
        r = new_resource
        text = r.csr_file ? ::File.read(r.csr_file) : request
        serial = "0x#{SecureRandom.hex(16)}"
        with_file(key) do |k|
          with_file(extensions) { |e| openssl("x509", "-req", "-sha256", "-days", r.expire, "-set_serial", serial, *signer(k), "-extfile", e, input: text) }
        end
      end
      def due?(path, days) = ::File.exist?(path) && quietly("x509", "-in", path, "-noout", "-checkend", days * 86_400)&.exitstatus != 0
      action(:create) do
        r = new_resource
        fresh = !::File.exist?(r.path)
        put(r.path, fresh && !whyrun_mode? ? certificate : nil, :create_if_missing, hide: false)
        put(r.path, certificate) if !fresh && r.renew_before_expiry && due?(r.path, r.renew_before_expiry)
        put(key_path, ::File.exist?(key_path) || whyrun_mode? ? nil : key, :create_if_missing) if r.csr_file.nil?
      end
    end
  end
end
