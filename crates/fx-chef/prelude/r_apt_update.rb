# apt_update: the lists of packages, now or when they are old.
class Chef
  class Resource
    class AptUpdate
      action_class do
        CONF = "/etc/apt/apt.conf.d".freeze
        STAMPS = "/var/lib/apt/periodic".freeze

        # apt itself leaves a stamp from then on.
        def refresh
          [STAMPS, CONF].each { |dir| directory(dir) { recursive true } }
          file "#{CONF}/15update-stamp" do
            content "APT::Update::Post-Invoke-Success {\"touch #{STAMPS}/update-success-stamp 2>/dev/null || " \
              "true\";};\n"
            action :create_if_missing
          end
          execute "apt-get -q update" do
            command ["apt-get", "-q", "update"]
            default_env true
          end
        end

        def updated_at
          stamp = "#{STAMPS}/update-success-stamp"
          ::File.mtime(stamp) if ::File.exist?(stamp)
        end
        def fresh? = updated_at && updated_at > Time.now - new_resource.frequency
        def lists = fx_about(:package_lists, "apt", updated: [updated_at&.to_i, "now"])
      end

      action :periodic do
        fx_change("update new lists of packages", lists) { refresh } if debian? && !fresh?
      end

      action :update do
        fx_change("force update new lists of packages", lists) { refresh } if debian?
      end
    end
  end
end
