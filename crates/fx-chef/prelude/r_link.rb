# link: symbolic and hard links.
class Chef
  class Resource
    class Link
      Chef::Resource::File
      include FxSecurable
      %i{owner group mode owner= group= mode=}.each { |m| remove_method(m) if method_defined?(m, false) }
      property :link_type, [String, Symbol], default: :symbolic, equal_to: %i{symbolic hard}, coerce: proc { |v| v.is_a?(String) ? v.to_sym : v }
    end
  end
  class Provider
    class Link < Chef::Provider
      def load_current_resource
        @path = new_resource.target_file
        @now = if ::File.symlink?(@path) then [:symbolic, ::File.readlink(@path)]
               elsif ::File.exist?(@path) then [:hard, @path]
               end
      end
      def action_create
        r = new_resource
        to = r.to
        if r.link_type == :symbolic
          return perms if @now && @now[0] == :symbolic && @now[1] == to
          converge_by("create symlink at #{@path} to #{to}") do
            if ::File.directory?(@path) && !::File.symlink?(@path)
              ::Dir.unlink(@path)
            elsif ::File.exist?(@path) || ::File.symlink?(@path)
              ::File.unlink(@path)
            end
            ::File.symlink(to, @path)
          end
          perms
        else
          return if @now && ::File.exist?(to) && ::File.exist?(@path) && ::File.stat(to).ino == ::File.stat(@path).ino && !::File.symlink?(@path)
          converge_by("create hard link at #{@path} to #{to}") do
            ::File.unlink(@path) if ::File.exist?(@path) || ::File.symlink?(@path)
            ::File.link(to, @path)
          end
        end
      end
      def perms
        o, g = new_resource.fx_owner, new_resource.fx_group
        return if o.nil? && g.nil?
        st = ::File.lstat(@path)
        uid = o && (o.is_a?(Integer) ? o : Etc.getpwnam(o).uid)
        gid = g && (g.is_a?(Integer) ? g : Etc.getgrnam(g).gid)
        return if (uid.nil? || uid == st.uid) && (gid.nil? || gid == st.gid)
        converge_by("change owner of link #{@path}") { ::File.lchown(uid, gid, @path) }
      end
      def action_delete
        return unless @now
        r = new_resource
        if r.link_type == :symbolic
          unless @now[0] == :symbolic
            fx_unmet(Chef::Exceptions::Link, "Cannot delete #{r} at #{@path}! Not a symbolic link.")
          end
          converge_by("delete link at #{@path}") { ::File.delete(@path) }
        else
          if !r.to.nil? && ::File.exist?(r.to) && ::File.stat(r.to).ino != ::File.stat(@path).ino
            fx_unmet(Chef::Exceptions::Link, "Cannot delete #{r} at #{@path}! Not a hard link to #{r.to}.")
          end
          converge_by("delete hard link at #{@path}") { ::File.delete(@path) }
        end
      end
    end
  end
end
