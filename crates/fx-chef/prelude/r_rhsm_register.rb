# rhsm_register: a machine's membership in Red Hat's subscription service.
require "shellwords"
class Chef
  class Resource
    class RhsmRegister
      property :activation_key, [String, Array], coerce: proc { |v| Array(v) }
    end
  end
  class Provider
    class RhsmRegister < FxComposite
      def registered? = !fx_look("subscription-manager", "status").stdout.include?("Overall Status: Unknown")
      def flags(names) = names.filter_map { |flag, value| "--#{flag}=#{value}" if value }
      def register
        r = new_resource
        shared = { name: r.system_name, serverurl: r.server_url, baseurl: r.base_url }
        if r.activation_key && !r.activation_key.empty?
          raise "Unable to register - you must specify organization when using activation keys" if r.organization.nil?
          words = r.activation_key.map { |k| "--activationkey=#{k}" } +
            flags({ org: r.organization, **shared, release: r.release })
        elsif r.username && r.password
          if r.environment.nil? && r.satellite_host
            raise "Unable to register - you must specify environment when using username/password"
          end
          if r.service_level && !r.auto_attach
            raise "Unable to register - 'auto_attach' must be enabled when using property `service_level`."
          end
          if r.release && !r.auto_attach
            raise "Unable to register - `auto_attach` must be enabled when using property `release`."
          end
          words = flags({ username: r.username, password: r.password, environment: r.satellite_host && r.environment,
            **shared })
          words << "--auto-attach" if r.auto_attach
          words += flags({ servicelevel: r.service_level, release: r.release })
        else
          raise "Unable to create register command - you must specify activation_key or username/password"
        end
        words << "--force" if r.force
        ["subscription-manager", "register", *words]
      end
      action(:register) do
        r = new_resource
        me = self
        declare_resource(:package, "subscription-manager")
        if r.satellite_host && !registered?
          kept = "#{Chef::Config[:file_cache_path]}/katello-package.rpm"
          kind = node["platform_version"].to_i >= 8 ? :dnf_package : :yum_package
          declare_resource(kind, "katello-ca-consumer-latest") do
            options "--nogpgcheck"
            source kept
            action :nothing
          end
          declare_resource(:remote_file, kept) do
            source "#{r.https_for_ca_consumer ? "https" : "http"}://" \
              "#{r.satellite_host}/pub/katello-ca-consumer-latest.noarch.rpm"
            notifies :install, "#{kind}[katello-ca-consumer-latest]", :immediately
            not_if "rpm -qa | grep -q katello-ca-consumer", fx_reads: true
          end
          declare_resource(:file, kept) { action :delete }
        end
        list = register
        declare_resource(:execute, "Register to RHSM") do
          sensitive r.sensitive
          command list.map { |w| w.sub(/\A(--\w+=)(.*)\z/m) { $1 + $2.shellescape } }.join(" ")
          self.fx_words = list
          not_if { me.registered? } unless r.force
        end
        declare_resource(:package, "katello-agent") if r.install_katello_agent && r.satellite_host
      end
      action(:unregister) do
        me = self
        declare_resource(:execute, "Clean RHSM Config") do
          command "subscription-manager clean"
          action :nothing
        end
        declare_resource(:execute, "Unregister from RHSM") do
          command "subscription-manager unregister"
          only_if { me.registered? }
          notifies :run, "execute[Clean RHSM Config]", :immediately
        end
      end
    end
  end
end
