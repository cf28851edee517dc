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
            content "APT::Update::Post-Invoke-Success {\"touch #{STAMPS}/update-success-stamp 2>/dev/null || true\";};\n"
            action :create_if_missing
          end
          execute "apt-get -q update" do
            command ["apt-get", "-q", "update"]
            default_env true
          end
        end

        def fresh?
          stamp = "#{STAMPS}/update-success-stamp"
          ::File.exist?(stamp) && ::File.mtime(stamp) > Time.now - new_resource.frequency
        end
      end

      action :periodic do
        converge_by("update new lists of packages") { refresh } if debian? && !fresh?
      end

      action :update do
        converge_by("force update new lists of packages") { refresh } if debian?
      end
    end
  end
end
