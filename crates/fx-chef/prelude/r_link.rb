# link: symbolic and hard links.
class Chef
  class Resource
    class Link
      Chef::Resource::File
      include FxSecurable
      %i{owner group mode owner= group= mode=}.each { |m| remove_method(m) if method_defined?(m, false) }
      property :link_type, [String, Symbol], default: :symbolic, equal_to: %i{symbolic hard}, coerce: proc { |v|
        v.is_a?(String) ? v.to_sym : v
      }
    end
  end
  class Provider
    class Link < Chef::Provider
      def load_current_resource
        @path = new_resource.target_file
        @now = if ::File.symlink?(@path) then [:symbolic, ::File.readlink(@path)]
               elsif fx_exists?(@path) then [:hard, @path]
               end
      end
      # The link itself, whatever was there before.
      def action_create
        r = new_resource
        unless fx_there?
          if fx_exists?(@path, link: true)
            fx_change("unlink existing symlink to file at #{@path}",
              fx_about(:file, @path, ensure: [::File.ftype(@path), "absent"])) do
              ::File.unlink(@path)
            end
          end
          if r.link_type == :symbolic
            fx_change("create symlink at #{@path} to #{r.to}", about(:symbolic)) { ::File.symlink(r.to, @path) }
          else
            fx_change("create hard link at #{@path} to #{r.to}", about(:hard)) { ::File.link(r.to, @path) }
          end
        end
        perms if r.link_type == :symbolic && !whyrun_mode?
      end
      def about(kind)
        fx_about(:file, @path,
          (kind == :hard ? :hard_link : :target) => [@now&.first == kind ? @now[1] : "absent", new_resource.to])
      end
      def fx_there?
        to = new_resource.to
        return @now&.first == :symbolic && @now[1] == to if new_resource.link_type == :symbolic
        @now&.first == :hard && ::File.exist?(to) && ::File.stat(to).ino == ::File.stat(@path).ino
      end
      def perms
        o, g = new_resource.fx_owner, new_resource.fx_group
        return if o.nil? && g.nil?
        st = ::File.lstat(@path)
        uid = o && (o.is_a?(Integer) ? o : Etc.getpwnam(o).uid)
        gid = g && (g.is_a?(Integer) ? g : Etc.getgrnam(g).gid)
        return if (uid.nil? || uid == st.uid) && (gid.nil? || gid == st.gid)
        changes = fx_about(:file, @path,
          { owner: [st.uid, uid], group: [st.gid, gid] }.reject { |_, (was, to)| to.nil? || was == to })
        fx_change("change owner of link #{@path}", changes) { ::File.lchown(uid, gid, @path) }
      end
      def action_delete
        return unless @now
        r = new_resource
        if r.link_type == :symbolic
          unless @now[0] == :symbolic
            fx_unmet(Chef::Exceptions::Link, "Cannot delete #{r} at #{@path}! Not a symbolic link.")
          end
          fx_change("delete link to file at #{@path}",
            fx_about(:file, @path, ensure: [::File.ftype(@path), "absent"])) do
            ::File.delete(@path)
          end
        else
          if !r.to.nil? && ::File.exist?(r.to) && ::File.stat(r.to).ino != ::File.stat(@path).ino
            fx_unmet(Chef::Exceptions::Link, "Cannot delete #{r} at #{@path}! Not a hard link.")
          end
          fx_change("delete link to file at #{@path}",
            fx_about(:file, @path, ensure: [::File.ftype(@path), "absent"])) do
            ::File.delete(@path)
          end
        end
      end
    end
  end
end
