# inspec_waiver_file_entry: one control's waiver in a YAML file.
class Chef
  class Provider
    class InspecWaiverFileEntry < FxComposite
      def waivers
        path = new_resource.file_path
        unless path.match?(/\.ya?ml\z/i)
          raise "Waiver files needs to be a YAML file which should have a .yaml or .yml extension -\"#{path}\" does " \
            "not have an appropriate extension"
        end
        (::File.exist?(path) && ::YAML.load(::File.read(path))) || {}
      end
      def put(all, what)
        r = new_resource
        body = ::YAML.dump(all.sort.to_h)
        declare_resource(:file, "Update Waiver File #{r.file_path} to #{what} waiver for control #{r.control}") do
          path r.file_path
          content body
          backup r.backup
        end
      end
      action(:add) do
        r = new_resource
        if r.justification.to_s.empty?
          raise Chef::Exceptions::ValidationFailed,
            "Entries in the InSpec waiver file must have a justification given, this parameter must have a value."
        end
        all = waivers
        row = {}
        row["expiration_date"] = r.expiration.to_s unless r.expiration.nil?
        row["run"] = r.run_test unless r.run_test.nil?
        row["justification"] = r.justification.to_s
        put(all.merge(r.control => row), "update") unless all[r.control] == row
      end
      action(:remove) do
        all = waivers
        put(all.reject { |k, _| k == new_resource.control }, "remove") if all.key?(new_resource.control)
      end
    end
  end
end
