# remote_directory: a tree that ships with a cookbook.
class Chef
  class Resource
    class RemoteDirectory
      def after_created = (@path || @name).then { |d| FX.declared(to_s, d, source_line, true) if d.is_a?(String) }
      property :source, String, default: lazy { ::File.basename(path) }
      property :files_mode, [String, Integer, nil], default: lazy { 0644 }, regex: /^\d{3,4}$/
      def files_owner(v = nil) = v.nil? ? @files_owner : @files_owner = v
      def files_group(v = nil) = v.nil? ? @files_group : @files_group = v
    end
  end
  class Provider
    class RemoteDirectory < Directory
      def action_create
        super
        r = new_resource
        @managed = {}
        book = run_context.cookbook_collection[(r.cookbook || r.cookbook_name).to_s]
        files, base = book.directory_listing(r.source, node)
        unless files
          raise Chef::Exceptions::FileNotFound, "cookbook #{book.name} has no directory files/default/#{r.source}"
        end
        files.sort.each do |f|
          target = ::File.join(r.path, f)
          dirs_to(::File.dirname(target)).each { |p| sync_dir(p) unless @managed[p] }
          sync_file(base, f, target)
        end
        purge if r.purge
      end
      def dirs_to(dir)
        parts = []
        while dir.size > new_resource.path.size
          parts.unshift(dir)
          dir = ::File.dirname(dir)
        end
        parts
      end
      def sync_dir(path)
        r = new_resource
        @managed[path] = true
        return if ::File.directory?(path)
        sub(:directory, path) do |d|
          d.mode(r.mode) if r.mode
          d.owner(r.owner) if r.owner
          d.group(r.group) if r.group
          d.recursive(true)
          d.run_action(:create)
        end
      end
      def sync_file(base, rel, target)
        r = new_resource
        @managed[target] = true
        sub(:cookbook_file, target) do |f|
          f.cookbook((r.cookbook || r.cookbook_name).to_s)
          f.source("#{r.source}/#{rel}")
          f.mode(r.files_mode) if r.files_mode
          f.owner(r.files_owner) if r.files_owner
          f.group(r.files_group) if r.files_group
          f.backup(r.files_backup) unless r.files_backup.nil?
          f.run_action(r.overwrite ? :create : :create_if_missing)
        end
      end
      def purge
        ::Dir.glob("#{new_resource.path}/**/*", ::File::FNM_DOTMATCH).sort.reverse_each do |p|
          next if @managed[p] || %w{. ..}.include?(::File.basename(p))
          if ::File.directory?(p) && !::File.symlink?(p)
            next unless ::Dir.empty?(p)
            sub(:directory, p) { |d| d.run_action(:delete) }
          else
            sub(:file, p) { |f| f.run_action(:delete) }
          end
        end
      end
      def sub(type, name)
        klass = Chef.resource_handler_map.get(node, type)
        res = klass.new(name, run_context)
        res.cookbook_name = new_resource.cookbook_name
        res.recipe_name = new_resource.recipe_name
        res.enclosing_provider = self
        yield res
        new_resource.updated_by_last_action(true) if res.updated?
      end
      def action_create_if_missing
        r = new_resource
        r.overwrite(false)
        action_create
      end
    end
  end
end
