# apt_preference: a pin.
class Chef
  class Provider
    class AptPreference < FxComposite
      def safe = new_resource.package_name.tr("*", "wildcard").gsub(/[^\w.-]/, "_").sub("*", "wildcard")
      def file = "/etc/apt/preferences.d/#{safe}.pref"
      action(:add) do
        r = new_resource
        path = file
        body = "Package: #{r.glob || r.package_name}\nPin: #{r.pin}\nPin-Priority: #{r.pin_priority}\n"
        declare_resource(:directory, "/etc/apt/preferences.d") do
          mode "0755"
          recursive true
        end
        declare_resource(:file, path) do
          mode "0644"
          content body
        end
      end
      action(:remove) do
        path = file
        declare_resource(:file, path) { action :delete }
      end
    end
  end
end
