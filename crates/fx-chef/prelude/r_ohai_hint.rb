# ohai_hint: a file that hints at where the machine runs.
class Chef
  class Provider
    class OhaiHint < FxComposite
      def file = "/etc/chef/ohai/hints/#{new_resource.hint_name.delete_suffix(".json")}.json"
      action(:create) do
        path = file
        body = new_resource.content.nil? || new_resource.content.empty? ? "" :
          JSON.pretty_generate(new_resource.content)
        declare_resource(:directory, "/etc/chef/ohai/hints") { recursive true }
        declare_resource(:file, path) { content body }
      end
      action(:delete) do
        path = file
        declare_resource(:file, path) { action :delete }
      end
    end
  end
end
