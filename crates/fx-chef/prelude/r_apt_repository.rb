# apt_repository: an archive in sources.list.d, with its keys.
class Chef
  class Resource
    class AptRepository
      property :distribution, [String, nil, FalseClass], default: lazy { node.read("lsb", "codename") }
      property :key, [String, Array, nil, FalseClass], default: [], coerce: proc { |x| x ? Array(x) : x }
      property :options, [String, Array], default: [], coerce: proc { |x| Array(x) }
    end
  end
  class Provider
    class AptRepository < Chef::Provider
      def load_current_resource = nil
      def ring = "/etc/apt/keyrings/#{new_resource.repo_name}.gpg"
      def list_file = "/etc/apt/sources.list.d/#{new_resource.repo_name}.list"
      def components
        r = new_resource
        c = r.components
        ppa? && c.empty? ? ["main"] : c
      end
      def ppa? = new_resource.uri.to_s.start_with?("ppa:")
      def uri = ppa? ? "http://ppa.launchpad.net/#{new_resource.uri.delete_prefix("ppa:")}/ubuntu" : new_resource.uri.to_s.gsub(/\s/, "%20").gsub(/["']/, "")
      def signed
        s = new_resource.respond_to?(:signed_by) ? new_resource.signed_by : nil
        return s if s.is_a?(String)
        s && new_resource.key && !new_resource.key.empty? ? ring : nil
      end
      def line(kind)
        r = new_resource
        o = []
        o << "arch=#{r.arch}" if r.arch
        o << "trusted=yes" if r.trusted
        o << "signed-by=#{signed}" if signed
        o += r.options
        opts = o.empty? ? "" : "[" + o.join(" ") + "] "
        "#{kind} #{opts}#{uri} #{[r.distribution || nil, *components].compact.join(" ")}\n".gsub(/ +/, " ")
      end
      def action_add
        r = new_resource
        keys = Array(r.key).select { |k| k }
        listed = "# This file managed by Chef Infra Client\n" + line("deb") + (r.deb_src ? line("deb-src") : "")
        me = self
        compile_and_converge_action do
          keys.each do |k|
            if k.include?("://") || k.start_with?("/")
              cached = ::File.join(Chef::Config[:file_cache_path], ::File.basename(k))
              declare_resource(:directory, "/etc/apt/keyrings") { mode "0755" } if me.signed
              if k.start_with?("/")
                cached = k
              else
                declare_resource(:remote_file, cached) do
                  source k
                  mode "0644"
                  sensitive r.sensitive
                end
              end
              cmd = me.signed ? "gpg --batch --yes --dearmor -o #{me.ring} #{cached}" : "apt-key add #{cached}"
              declare_resource(:execute, "import key #{k}") do
                command cmd
                not_if { me.signed ? ::File.exist?(me.ring) : false }
              end
            elsif run_context.has_cookbook_file_in_cookbook?(r.cookbook || r.cookbook_name, k)
              cached = ::File.join(Chef::Config[:file_cache_path], k)
              declare_resource(:cookbook_file, cached) do
                source k
                cookbook r.cookbook || r.cookbook_name
                mode "0644"
              end
              declare_resource(:execute, "import key #{k}") { command(me.signed ? "gpg --batch --yes --dearmor -o #{me.ring} #{cached}" : "apt-key add #{cached}") }
            else
              server = r.keyserver.to_s.include?("://") ? r.keyserver : "hkp://#{r.keyserver}:80"
              declare_resource(:execute, "install-key #{k}") do
                command me.signed ? "gpg --no-default-keyring --keyring gnupg-ring:#{me.ring} --keyserver #{server} --recv #{k}" : "apt-key adv --recv --keyserver #{server} #{k}"
                not_if { ::File.exist?(me.ring) }
              end
            end
          end
          declare_resource(:apt_update, "apt update #{r.name}") { action :nothing } if r.cache_rebuild
          declare_resource(:file, me.list_file) do
            owner "root"
            group "root"
            mode "0644"
            content listed
            sensitive r.sensitive
            notifies :update, "apt_update[apt update #{r.name}]", :immediately if r.cache_rebuild
          end
        end
      end
      def action_remove
        r = new_resource
        me = self
        compile_and_converge_action do
          declare_resource(:apt_update, "apt update #{r.name}") { action :nothing } if r.cache_rebuild
          declare_resource(:file, me.list_file) do
            action :delete
            notifies :update, "apt_update[apt update #{r.name}]", :immediately if r.cache_rebuild
          end if ::File.exist?(me.list_file)
        end
      end
    end
  end
end
