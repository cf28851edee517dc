# apt_repository: an archive in sources.list.d, with its keys.
class Chef
  class Resource
    class AptRepository
      KEYS_KNOWN = %w{apt-key adv --list-public-keys --with-fingerprint --with-colons}.freeze
      property :distribution, [String, nil, FalseClass], default: lazy { node["lsb"]["codename"] }
      property :key, [String, Array, nil, FalseClass], default: [], coerce: proc { |x| x ? Array(x) : x }
      property :options, [String, Array], default: [], coerce: proc { |x| Array(x) }

      action_class do
        def ring = "/etc/apt/keyrings/#{new_resource.repo_name}.gpg"
        def list = "/etc/apt/sources.list.d/#{new_resource.repo_name}.list"
        def book = new_resource.cookbook || new_resource.cookbook_name
        def ships?(name) = run_context.has_cookbook_file_in_cookbook?(book, name)

        # Eight, sixteen or forty digits stand for a key that a server has.
        def key_id?(key)
          digits = key.delete_prefix("0x")
          digits.match?(/\A\h+\z/) && [8, 16, 40].include?(digits.size)
        end

        def fetched_by(key)
          return :remote_file if key.start_with?("http")
          return :cookbook_file if ships?(key)
          raise Chef::Exceptions::FileNotFound, "Cannot locate key file: #{key}"
        end

        def public_keys(*command)
          fx_look(*command).stdout.lines.grep(/^pub:/).map { |l| l.split(":").first(6).join(":") }
        end

        # gpg looks at a key in a directory of its own, which is gone afterwards.
        def install_from_file(key)
          require "tmpdir"
          Dir.mktmpdir(".gpg") do |home|
            check = "gpg --homedir #{home} %{path}"
            new_resource.signed_by ? keep_from_file(key, check) : trust_from_file(key, check)
          end
        end

        def keep_from_file(key, check)
          hidden = new_resource.sensitive
          kept = ::File.join(Chef::Config[:file_cache_path], key.gsub(/[^0-9A-Za-z\-]/, "_"))
          to = ring
          major = fx_look("apt", "-v").stdout[/([0-9]\.?){3}/].to_i
          into = "#{"gnupg-ring:" if major > 2}#{to}"
          directory("/etc/apt/keyrings") { mode "0755" }
          declare_resource(fetched_by(key), kept) do
            source key
            mode "0644"
            sensitive hidden
            verify check
            notifies :run, "execute[import #{to}]", :immediately
          end
          execute "import #{to}" do
            command ["gpg", "--import", "--batch", "--yes", "--no-default-keyring", "--keyring", into, kept]
            default_env true
            sensitive hidden
            action :nothing
          end
          file to do
            mode "0644"
            notifies :run, "execute[import #{to}]", :before unless ::File.exist?(to)
          end
        end

        # The old way: apt trusts the key for every archive.
        def trust_from_file(key, check)
          hidden = new_resource.sensitive
          to = ring
          declare_resource(fetched_by(key), to) do
            source key
            mode "0644"
            sensitive hidden
            verify check
          end
          known = -> { (public_keys("gpg", "--with-fingerprint", "--with-colons", to) - public_keys(*KEYS_KNOWN))
            .empty? }
          execute "apt-key add #{to}" do
            command ["apt-key", "add", to]
            default_env true
            sensitive hidden
            not_if { known.call }
            notifies :run, "execute[apt-cache gencaches]", :immediately
          end
        end

        def in_ring?(key)
          fx_look(*%W{gpg --no-default-keyring --keyring #{ring} --list-public-keys --with-fingerprint --with-colons
            #{key}}).exitstatus == 0
        end

        def usable_in_ring?(key)
          out = fx_look("gpg", "--no-default-keyring", "--keyring", ring, "--list-public-keys", key)
          out.exitstatus == 0 && out.stdout.lines.none?(/\[(expired|revoked):/)
        end

        def trusted?(key)
          fx_look(*KEYS_KNOWN).stdout.lines.any? { |l| l[/^fpr:+([0-9A-F]+):/, 1]&.end_with?(key) }
        end

        def usable?(key) = fx_look("apt-key", "list").stdout.lines.none?(%r{^/#{Regexp.escape(key)}.*\[expired: .*\]$})

        def install_from_server(key, server = new_resource.keyserver)
          hidden = new_resource.sensitive
          server = "hkp://#{server}:80" unless server.start_with?("hkp://")
          proxy = new_resource.key_proxy ? ["--keyserver-options", "http-proxy=#{new_resource.key_proxy}"] : []
          name = key.upcase
          if new_resource.signed_by
            list = ["gpg", "--no-default-keyring", "--keyring", ring, *proxy, "--keyserver", server, "--recv", key]
            there = -> { in_ring?(name) && usable_in_ring?(name) }
            good = -> { usable_in_ring?(name) }
          else
            list = ["apt-key", "adv", "--no-tty", "--recv", *proxy, "--keyserver", server, key]
            there = -> { trusted?(name) && usable?(name) }
            good = -> { usable?(name) }
          end
          execute "install-key #{key}" do
            command list.join(" ")
            self.fx_words = list
            default_env true
            sensitive hidden
            not_if { there.call }
            notifies :run, "execute[apt-cache gencaches]", :immediately
          end
          raise "The key #{key} is invalid and cannot be used to verify an apt repository." unless good.call
        end

        # An archive of Launchpad: its key is asked for there.
        def from_launchpad(uri)
          owner, name = uri.delete_prefix("ppa:").split("/")
          name ||= "ppa"
          begin
            id = Chef::HTTP::Simple.new("https://launchpad.net/api/1.0/~#{owner}/+archive/#{name}", {})
              .get("signing_key_fingerprint")
          rescue Net::HTTPClientException => e
            raise "Could not access Launchpad ppa API: #{e.message}"
          end
          install_from_server(id.delete('"'), "keyserver.ubuntu.com")
          "http://ppa.launchpad.net/#{owner}/#{name}/ubuntu"
        end

        def listing
          r = new_resource
          uri, parts = r.uri, r.components
          if uri.start_with?("ppa:")
            uri = from_launchpad(uri)
            parts = ["main"] if parts.empty?
          end
          signed = r.signed_by == true ? ring : r.signed_by
          given = [("arch=#{r.arch}" if r.arch), ("trusted=yes" if r.trusted), ("signed-by=#{signed}" if signed),
            *r.options].compact
          uri = uri.gsub(" ", "%20")
          # The path of a bare host is the root.
          uri += "/" if uri.match?(%r{\A\w+://[^/]+\z})
          said = [("[#{given.join(" ")}]" unless given.empty?), uri, r.distribution, parts.join(" ")].compact.join(" ")
          "deb      #{said}\n#{"deb-src  #{said}\n" if r.deb_src}"
        end

        def drop_old_name
          old = "/etc/apt/sources.list.d/#{new_resource.name}.list"
          return if new_resource.name == new_resource.repo_name || !::File.exist?(old)
          fx_change("Cleaning up legacy #{old} repo file", fx_about(:file, old, ensure: %w{file absent})) do
            file(old) { action :delete }
          end
        end

        def quiet_update
          apt_update new_resource.name do
            ignore_failure true
            action :nothing
          end
        end
      end

      action :add do
        return unless debian?
        r = new_resource
        execute "apt-cache gencaches" do
          command %w{apt-cache gencaches}
          default_env true
          ignore_failure true
          action :nothing
        end
        quiet_update
        r.key&.each { |k| key_id?(k) && !ships?(k) ? install_from_server(k) : install_from_file(k) }
        drop_old_name
        text = listing
        file list do
          owner "root"
          group "root"
          mode "0644"
          content text
          sensitive r.sensitive
          notifies :run, "execute[apt-cache gencaches]", :immediately
          notifies :update, "apt_update[#{r.name}]", :immediately if r.cache_rebuild
        end
      end

      action :remove do
        return unless debian?
        r = new_resource
        drop_old_name
        if ::File.exist?(list)
          fx_change("Removing #{r.repo_name} repository from /etc/apt/sources.list.d/",
            fx_about(:apt_repository, r.repo_name, ensure: %w{present absent})) do
            quiet_update
            file ring do
              sensitive r.sensitive
              action :delete
            end
            file list do
              sensitive r.sensitive
              action :delete
              notifies :update, "apt_update[#{r.name}]", :immediately if r.cache_rebuild
            end
          end
        end
      end
    end
  end
end
