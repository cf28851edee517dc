# archive_file: unpacks an archive with the machine's tar and unzip.
class Chef
  class Resource
    class ArchiveFile
      def after_created = @destination.is_a?(String) ? FX.declared(to_s, @destination, source_line, true) : nil
      property :path, String, name_property: true, coerce: proc { |f| ::File.expand_path(f) }
      property :options, [Array, Symbol], default: lazy { [:time] }
    end
  end
  class Provider
    class ArchiveFile < Chef::Provider
      def load_current_resource = nil
      def zip? = new_resource.path.end_with?(".zip")
      def entries
        (zip? ? fx_look!("unzip", "-Z1", new_resource.path) : fx_look!("tar", "-tf", new_resource.path)).stdout.lines
          .map(&:chomp)
      end
      def action_extract
        r = new_resource
        unless ::File.exist?(r.path) || whyrun_mode?
          raise Errno::ENOENT, "No archive found at #{r.path}! Cannot continue."
        end
        fresh = !::File.exist?(r.destination)
        due = fresh || (r.overwrite && r.overwrite != :auto) ||
          (!whyrun_mode? && entries
          .any? { |e| !::File.exist?(::File.join(r.destination, stripped(e))) && !stripped(e).empty? })
        return unless due
        fx_change("create directory #{r.destination}", fx_about(:file, r.destination, ensure: %w{absent directory})) do
          require "fileutils"
          FileUtils.mkdir_p(r.destination)
          FileUtils.chmod(r.mode.is_a?(Integer) ? r.mode : r.mode.to_s.oct, r.destination) if r.mode && fresh
        end if fresh
        fx_change("extract #{r.path} to #{r.destination}",
          fx_about(:file, r.destination, extracted_from: [nil, r.path])) do
          if zip?
            shell_out!("unzip", "-o", "-q", r.path, "-d", r.destination)
          else
            shell_out!("tar", "-xf", r.path, "-C", r.destination,
              *(r.strip_components.to_i > 0 ? ["--strip-components=#{r.strip_components}"] : []))
          end
          if r.owner || r.group
            shell_out!("chown", "-R", "--", "#{r.owner}#{":#{r.group}" if r.group}", r.destination)
          end
        end
      end
      def stripped(e) = e.split("/").drop(new_resource.strip_components.to_i).join("/")
    end
  end
end
