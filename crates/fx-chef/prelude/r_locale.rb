# locale: the machine's language settings.
class Chef
  class Resource
    class Locale
      FX_FILE = "/etc/locale.conf"
      property :lang, String, default: lazy { false if node["platform_family"] == "debian" }, desired_state: true
      property :lc_env, Hash, default: {}, coerce: proc { |h| h }
    end
  end
  class Provider
    class Locale < FxComposite
      FAMILIES = %w{amazon debian fedora rhel suse windows}.freeze
      def wanted
        r = new_resource
        all = (r.lc_env || {}).dup
        all["LANG"] = r.lang if r.lang
        all
      end
      def now
        return {} unless ::File.exist?(Chef::Resource::Locale::FX_FILE)
        ::File.read(Chef::Resource::Locale::FX_FILE).split("\n").to_h { |l| l.split("=", 2) }
      end
      def define_resource_requirements
        family = node["platform_family"]
        requirements.assert(:all_actions) do |a|
          a.assertion { FAMILIES.include?(family) }
          a.failure_message(Chef::Exceptions::ProviderNotFound,
            "The locale resource is not supported on platform family: #{family}")
        end
        requirements.assert(:all_actions) do |a|
          a.assertion { which("locale-gen") }
          a.failure_message(Chef::Exceptions::ProviderNotFound, "The locale resource requires the locale-gen tool")
        end
      end
      action(:update) do
        r = new_resource
        had = now
        want = wanted
        changed = want.reject { |k, v| had[k] == v }
        unless changed.empty?
          body = want.sort.map { |t| t.join("=") }.join("\n") + "\n"
          lines = changed.map { |k, v| "  set #{k == "LANG" ? "lang" : k} to #{v.inspect} (was #{had[k].inspect})" }
          changes = fx_about(:locale, Chef::Resource::Locale::FX_FILE, changed.to_h { |k, v| [k, [had[k], v]] })
          fx_change(["update #{r.name}"] + lines, changes) do
            missing = want.values.compact.uniq - fx_look!("locale", "-a").stdout.split("\n")
            fx_tool!("locale-gen", *missing, timeout: 1800) unless missing.empty?
            declare_resource(:file, "Updating system locale") do
              path Chef::Resource::Locale::FX_FILE
              content body
            end
          end
        end
      end
    end
  end
end
