# openssl_x509_crl: the list of certificates an authority has called back.
FX.load("chef/openssl_shared.rb")
class Chef
  class Provider
    class OpensslX509Crl < FxOpenssl
      REASONS = { 0 => nil, 1 => "keyCompromise", 2 => "CACompromise", 3 => "affiliationChanged", 4 => "superseded",
        5 => "cessationOfOperation", 6 => "certificateHold", 8 => "removeFromCRL" }.freeze
      def revoked(path)
        text = quietly("crl", "-in", path, "-noout", "-text")&.stdout.to_s
        text.scan(/Serial Number: (\h+)\n\s+Revocation Date: (.+)/).to_h
      end
      def ends(path)
        Time.parse(quietly("crl", "-in", path, "-noout", "-nextupdate").stdout.to_s.split("=", 2)[1].to_s)
      end
      def due?
        r = new_resource
        return true unless ::File.exist?(r.path) && quietly("crl", "-in", r.path, "-noout")&.exitstatus == 0
        return true if r.serial_to_revoke && !revoked(r.path).key?(serial)
        require "time"
        ends(r.path) <= Time.now + r.renewal_threshold * 86_400
      end
      def serial
        s = new_resource.serial_to_revoke
        h = s.is_a?(Integer) ? s.to_s(16) : s.to_s
        (h.size.odd? ? "0#{h}" : h).upcase
      end
      def list
        r = new_resource
        require "tmpdir"
        old = ::File.exist?(r.path) ? revoked(r.path) : {}
        why = REASONS[r.revocation_reason]
        stamp = ->(t) { t.getutc.strftime("%y%m%d%H%M%SZ") }
        rows = old.map { |s, at| "R\t491231235959Z\t#{stamp.call(Time.parse(at))}\t#{s}\tunknown\t/CN=#{s}\n" }
        if r.serial_to_revoke && !old.key?(serial)
          rows << "R\t491231235959Z\t#{stamp.call(Time.now)}#{",#{why}" if why}\t#{serial}\tunknown\t/CN=#{serial}\n"
        end
        Dir.mktmpdir do |dir|
          ::File.write("#{dir}/index", rows.join)
          ::File.write("#{dir}/number", "01\n")
          ::File.write("#{dir}/conf",
            "[ca]\ndefault_ca=a\n[a]\ndatabase=#{dir}/index\ncrlnumber=" \
            "#{dir}/number\ndefault_md=sha256\ndefault_crl_days=#{r.expire}\n")
          openssl("ca", "-config", "#{dir}/conf", "-gencrl", "-cert", r.ca_cert_file, "-keyfile", r.ca_key_file,
            *pass("-passin", r.ca_key_pass))
        end
      end
      action(:create) do
        r = new_resource
        require "time"
        fx_change("Create CRL #{r}", made(r.path, :crl)) { put(r.path, list, hide: false) } if due?
      end
    end
  end
end
