# chef_client_trusted_certificate: a certificate the client trusts.
class Chef
  class Provider
    class ChefClientTrustedCertificate < FxComposite
      def path
        p = ::File.join(Chef::Config[:trusted_certs_dir], new_resource.cert_name)
        p.end_with?(".pem") ? p : "#{p}.pem"
      end
      action(:add) do
        r = new_resource
        dir = Chef::Config[:trusted_certs_dir]
        declare_resource(:directory, dir) do
          mode "0640"
          recursive true
        end unless ::Dir.exist?(dir)
        declare_resource(:file, path) do
          content r.certificate
          mode "0640"
          sensitive r.sensitive
        end
      end
      action(:remove) { path.then { |p| declare_resource(:file, p) { action :delete } } }
    end
  end
end
