# cookbook_file: a file that ships with a cookbook.
class Chef
  class Resource
    class CookbookFile
      property :source, [String, Array], default: lazy { ::File.basename(name) }, desired_state: false
    end
  end
  class Provider
    class CookbookFile < File
      def content_of
        return @content if @content
        r = new_resource
        name = (r.cookbook || r.cookbook_name).to_s
        book = run_context.cookbook_collection[name]
        unless book
          raise Chef::Exceptions::CookbookNotFound,
            "Cookbook #{name} not found. If you're loading #{name} from another cookbook, make sure you configure " \
            "the dependency in your metadata"
        end
        @content = FX.read(book.preferred_filename_on_disk_location(node, :files, r.source))
      end
    end
  end
end
