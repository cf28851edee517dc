# ssh_known_hosts_entry: keys of hosts, gathered and written once at the end of the run.
class Chef
  class Resource
    class SshKnownHostsEntry
      property :key_type, String, default: "rsa"
      property :group, [String, Integer], default: lazy { node["root_group"] }
    end
  end
  class Provider
    class SshKnownHostsEntry < FxComposite
      TYPES = { "rsa" => "ssh-rsa", "dsa" => "ssh-dss", "ecdsa" => "ecdsa-sha2-nistp256", "ed25519" => "ssh-ed25519" }
        .freeze
      def title = "update ssh known hosts file #{new_resource.file_location}"
      def entry
        r = new_resource
        place = r.port != 22 ? "[#{r.host}]:#{r.port}" : r.host
        return "#{place} #{TYPES[r.key_type] || r.key_type} #{r.key}" if r.key
        scan = ["ssh-keyscan", "-t#{r.key_type}", "-p", r.port, *(r.hash_entries ? ["-H"] : []), "--", r.host]
        found = fx_look!(*scan, timeout: r.timeout.to_i).stdout
        r.port != 22 ? found.sub(/^#{Regexp.escape(r.host)}/, place) : found
      end
      def writer
        r = new_resource
        what = title
        with_run_context(:root) do
          find_resource(:template, what) do
            path r.file_location
            owner r.owner if r.owner
            group r.group if r.group
            mode r.mode
            action :nothing
            delayed_action :create
            backup false
            variables(entries: [])
            list = variables[:entries]
            self.fx_content = -> { list.map { |e| "#{e.chomp}\n" }.join }
          end
        end
      end
      action(:create) do
        line = entry
        list = writer.variables[:entries]
        first = line.split("\n").first.to_s
        list << line unless list.reject(&:empty?).any? { |l| l.include?(first) || l.include?(line) }
      end
      action(:flush) do
        what = title
        with_run_context(:root) { find_resource!(:template, what).run_action(:create) }
        Chef::Log.warn "flushed ssh_known_hosts entries to file, later ssh_known_hosts_entry resources will not have " \
          "been written"
      end
    end
  end
end
