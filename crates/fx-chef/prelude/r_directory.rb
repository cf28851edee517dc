# directory: that it is there, with owner and mode; or that it is gone.
class Chef
  class Resource
    class Directory
      Chef::Resource::File
      include FxSecurable
      %i{owner group mode owner= group= mode=}.each { |m| remove_method(m) if method_defined?(m, false) }
      def after_created = @path.is_a?(Chef::DelayedEvaluator) ? nil : FX.declared(to_s, @path || @name, source_line)
    end
  end
  class Provider
    class Directory < Chef::Provider
      def load_current_resource = @path = new_resource.path
      def action_create
        r = new_resource
        fresh = !fx_exists?(@path, link: true)
        why = whyrun_mode?
        if fresh
          parent = ::File.dirname(@path)
          if !r.recursive && !::File.directory?(parent) && why
            message = "Parent directory #{parent} does not exist, cannot create #{@path}"
            FX.requirement([message, "Assuming directory #{parent} would have been created"])
          elsif !r.recursive && !::File.directory?(parent)
            fx_unmet(Chef::Exceptions::EnclosingDirectoryDoesNotExist,
              "Parent directory #{parent} does not exist, cannot create #{@path}")
          end
          fx_change("create new directory #{@path}", fx_about(:file, @path, ensure: %w{absent directory})) do
            if r.recursive
              require "fileutils"
              ::FileUtils.mkdir_p(@path)
            else
              ::Dir.mkdir(@path)
            end
            Chef::Log.info("#{r} created directory #{@path}")
          end
        elsif !::File.directory?(@path)
          fx_unmet(Chef::Exceptions::FileTypeMismatch,
            "Cannot create #{r} at #{@path} because a file already exists at that path")
        end
        @fx_updates = true if FX.access(path: @path, mode: r.fx_mode, owner: r.fx_owner, group: r.fx_group, new: fresh)
      end

      def action_delete
        return unless fx_exists?(@path)
        fx_unmet(RuntimeError, "Cannot delete #{new_resource} at #{@path}!") unless ::File.directory?(@path)
        fx_change("delete existing directory #{@path}", fx_about(:file, @path, ensure: %w{directory absent})) do
          if new_resource.recursive
            require "fileutils"
            ::FileUtils.rm_r(@path)
          else
            ::Dir.delete(@path)
          end
        end
      end
    end
  end
end
