# Where nodes, roles, environments, data bags, policies and cookbooks are kept: below a directory,
# or by a server. Who asks never knows which.
#
# A store has: node, create_node, save_node, role, environment, data_bags, data_bag, data_bag_item,
# search, policy, artifacts, cookbooks, settle.
class Chef
  module FxStore
    def self.current = @current ||= Chef::Config[:local_mode] ? Local.new : Chef::FxServerStore.new

    # Files of a repository, as local mode has them.
    class Local
      # NAME.json or NAME.rb below the configured directories.
      def file(dirs, name)
        Array(dirs).product(%w{json rb}).map { |d, e| "#{d}/#{name}.#{e}" }.find { |f| FX.file?(f) }
      end
      def repo = Array(Chef::Config[:chef_repo_path]).first
      # Runs that only try something out keep no node.
      attr_writer :keeps_nodes

      def node_file(name) = "#{Chef::Config[:node_path] || Chef::Config.path_under("nodes")}/#{name}.json"
      def node(name)
        path = node_file(name)
        return nil unless FX.file?(path)
        Chef::JSONCompat.parse(FX.read(path)) || {}
      rescue Chef::Exceptions::JSON::ParseError => e
        raise e.class, "#{path}: #{e.message}"
      end
      # The store knows a node from its first moment.
      def create_node(node)
        path = node_file(node.name)
        return unless ::File.directory?(repo.to_s)
        require "fileutils"
        FX.own_state do
          FileUtils.mkdir_p(::File.dirname(path))
          ::File.write(path, "{\n  \"name\": #{node.name.inspect}\n}\n", perm: 0600)
        end
      rescue SystemCallError
        nil
      end
      def save_node(node)
        return if @keeps_nodes == false || Chef::Config[:why_run] || !::File.directory?(repo.to_s)
        all = node.for_json
        kept = { "name" => all["name"],
          "chef_environment" => all["chef_environment"] == "_default" ? nil : all["chef_environment"] }
        %w{override normal default automatic run_list}.each { |k| kept[k] = all[k] }
        FX.save_node(node_file(node.name), kept.reject { |_, v| v.nil? || v.empty? })
      end

      def role(name)
        path = file(Chef::Config[:role_path], name) or return nil
        return Chef::Role.from_hash(Chef::JSONCompat.parse(FX.read(path)), name) if path.end_with?(".json")
        Chef::Role.new.tap do |r|
          r.name(name)
          FX.eval_file(path, r)
        end
      end

      def environment(name)
        path = file(Chef::Config[:environment_path], name)
        if path.nil?
          return Chef::Environment.from_hash({}, name) if name == "_default"
          Chef::FxMissing.raise('404 "Not Found"', "there is no environment #{name}")
        end
        return Chef::Environment.from_hash(Chef::JSONCompat.parse(FX.read(path)), name) if path.end_with?(".json")
        Chef::Environment.new.tap do |e|
          e.name(name)
          FX.eval_file(path, e)
        end
      end

      def bag_dirs = Array(Chef::Config[:data_bag_path])
      def data_bags = bag_dirs.flat_map { |d| FX.names(d) }.to_h { |n| [n, n] }
      def data_bag(name)
        dir = bag_dirs.map { |d| "#{d}/#{name}" }.find { |d| ::File.directory?(d) }
        Chef::FxMissing.raise('404 "Not Found"', "there is no data bag #{name} in #{bag_dirs.join(", ")}") unless dir
        FX.names(dir).select { |f| f.end_with?(".json") }.to_h { |f| [f.delete_suffix(".json"), "#{dir}/#{f}"] }
      end
      def data_bag_item(bag, id)
        path = data_bag(bag)[id.to_s]
        Chef::FxMissing.raise('404 "Not Found"', "there is no item #{id} in the data bag #{bag}") unless path
        Chef::JSONCompat.parse(FX.read(path))
      end

      def search(type, query, start, rows, filter)
        found = Chef::FxLocalSearch.new(self).matching(type.to_s, query)
        page = found[start..] || []
        page = page.first(rows) if rows
        page = page.map { |r| Chef::FxLocalSearch.pick(r, filter) } if filter
        { "rows" => page, "start" => start, "total" => found.size }
      end

      # A lock next to the cookbooks, as a checkout has it.
      def loose = @loose ||= ["#{repo}/Policyfile.lock.json"].find { |f| FX.file?(f) }
      def policy(group, name)
        groups = "#{Chef::Config[:policy_group_path] || "#{repo}/policy_groups"}/#{group}.json"
        if group && name && FX.file?(groups)
          id = Chef::JSONCompat.parse(FX.read(groups)).dig("policies", name, "revision_id")
          file = id && "#{Chef::Config[:policy_path] || "#{repo}/policies"}/#{name}-#{id}.json"
          return Chef::JSONCompat.parse(FX.read(file)) if file && FX.file?(file)
          return nil if id.nil?
        end
        return nil unless loose
        found = Chef::JSONCompat.parse(FX.read(loose))
        name.nil? || found["name"] == name ? found : nil
      end

      # All cookbooks of a lock; one that is missing fails as the original's server does.
      def artifacts(lock)
        loader = Chef::CookbookLoader.new(Chef::Config[:cookbook_path])
        lock["cookbook_locks"].to_h do |name, l|
          dir = artifact(name, l)
          unless dir
            if FX.doc?
              FX.describe("Error Resolving Cookbooks for Run List:",
                [["Missing Cookbooks:", "no cookbook artifact #{name} #{l["identifier"]}"],
                Chef::FxFailures.system_info])
            end
            Chef::FxMissing.raise('404 "Not Found"', "there is no cookbook artifact #{name} #{l["identifier"]}")
          end
          [name, loader.load(dir)]
        end
      end
      # The directory of a locked cookbook: an artifact, or where the lock says it came from.
      def artifact(cookbook, l)
        kept = "#{Chef::Config[:cookbook_artifact_path] || "#{repo}/cookbook_artifacts"}/#{cookbook}-#{l["identifier"]}"
        source = l["source"] || l.dig("source_options", "path")
        [kept, source && ::File.expand_path(source, repo),
          *Array(Chef::Config[:cookbook_path]).map { |p| "#{p}/#{cookbook}" }].compact.find { |d| ::File.directory?(d) }
      end

      # The cookbooks of an expanded run list with all they depend on.
      def cookbooks(environment, expansion)
        loader = Chef::CookbookLoader.new(Chef::Config[:cookbook_path])
        Closure.new(loader, environment.cookbook_versions, expansion.recipes).of(expansion)
      end
      # Nothing is left to do once all cookbooks are known.
      def settle(_) = nil
      def cleaned = nil
    end

    # The closure of dependencies among local cookbooks, each checked against its constraint.
    class Closure
      def initialize(loader, pins, recipes)
        @loader, @pins, @recipes, @books = loader, pins, recipes, {}
      end
      def of(expansion)
        expansion.recipes_with_version_constraints.each { |r, v| add(r.split("::", 2)[0], v && "= #{v}", []) }
        @books
      end
      def add(name, constraint, path)
        book = @loader[name]
        wanted = [constraint, @pins[name]].compact
        lacking(name, book, wanted, path) unless
          book && wanted.all? { |c| Chef::VersionConstraint.new(c).include?(book.version) }
        return if @books.key?(name)
        @books[name] = book
        raise Chef::Exceptions::UnmetDependency, "dependency cycle" if path.size > 500
        book.metadata.dependencies.each { |dep, c| add(dep, c, path + [name]) }
      end
      # Where a cookbook's metadata names another.
      def asked(by, name)
        file = "#{@books[by].root_dir}/metadata.rb"
        return unless ::File.file?(file)
        line = ::File.read(file).lines.index { |l| l.match?(/\A\s*depends\b.*['"]#{Regexp.escape(name)}['"]/) }
        line && "#{file}:#{line + 1}"
      end
      def lacking(name, book, wanted, path)
        unmet = book ? ["#{name} #{wanted.first}"] : []
        if FX.doc?
          FX.describe("Error Resolving Cookbooks for Run List:",
            Chef::FxFailures.cookbooks(@recipes, book ? [] : [name], unmet, ""))
        end
        shown = wanted.map(&:to_s).uniq.reject { |c| c == ">= 0.0.0" }.join(", ")
        by = path.empty? ? "the run list" : "cookbook #{path.last}"
        there = book ? "#{name} #{book.version} is not #{shown}" : "there is no cookbook #{name}"
        Chef::FxMissing.raise('412 "Precondition Failed"', "#{there}, which #{by} needs" \
          "#{" (#{shown})" unless book || shown.empty?}", path.empty? ? nil : asked(path.last, name))
      end
    end
  end
end
