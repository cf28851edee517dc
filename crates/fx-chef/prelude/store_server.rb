# What a Chef server keeps of a site, asked for over its interface.
class Chef
  class FxServerStore
    # Runs that only try something out send none to the server; see FX.leaves_server?.
    attr_writer :keeps_nodes
    def api = @api ||= Chef::ServerAPI.new
    def manifests = @manifests ||= Chef::ServerAPI.new(Chef::Config[:chef_server_url], versions: ServerAPI::MANIFESTS)

    # A name inside a path.
    def self.escape(name) = name.to_s.b.gsub(/[^A-Za-z0-9\-._~!$'()*,;:@]/n) { |c| format("%%%02X", c.ord) }
    def esc(name) = FxServerStore.escape(name)

    # What is at a path; nil where the server has nothing there.
    def found(path)
      api.get(path)
    rescue Net::HTTPServerException => e
      raise unless e.response && e.response.code == "404"
      nil
    end

    def node(name)
      @loaded = found("nodes/#{esc(name)}")
    end
    def create_node(node)
      changes = [[:chef_node, node.name, :ensure, "absent", "present"]]
      FX.tell("chef_node", node.name, "create", "the server does not know the node", changes) do
        api.post("nodes", "name" => node.name, "chef_environment" => node.chef_environment,
          "json_class" => "Chef::Node", "automatic" => {}, "normal" => {}, "chef_type" => "node", "default" => {},
          "override" => {}, "run_list" => [])
      end
    end

    # What a run found out anew about the machine is the client's own report; what policy decided
    # is a change of the node.
    def save_node(node)
      document = FxKeptNode.of(node)
      changes = changed_parts(document)
      path = "nodes/#{esc(node.name)}"
      return save_own(path, document) if changes.empty?
      FX.tell("chef_node", node.name, "save", "end of the run", changes) { put_node(path, document) }
    end
    PARTS = %w{chef_environment run_list normal default override policy_name policy_group}.freeze
    def changed_parts(document)
      return [[:chef_node, document["name"], :ensure, "absent", "present"]] unless @loaded
      PARTS.filter_map do |part|
        was, is = @loaded[part], document[part]
        next if (was.nil? || was == {} || was == []) && (is.nil? || is == {} || is == [])
        next if was == is
        # Attributes may hold secrets; that they differ is enough.
        was, is = FX.digest(FX.json(was)), FX.digest(FX.json(is)) if is.is_a?(Hash)
        next if was == is
        [:chef_node, document["name"], part.to_sym, was, is]
      end
    end
    def save_own(path, document) = FX.leaves_server? ? nil : FX.own_state { put_node(path, document) }
    def put_node(path, document)
      api.put(path, FX.json(document))
    rescue Net::HTTPServerException => e
      raise unless e.response.code == "404"
      api.post("nodes", FX.json(document))
    end

    def role(name)
      found = found("roles/#{esc(name)}")
      found && Chef::Role.from_hash(found, name)
    end
    def environment(name)
      # The default environment holds nothing, and is not asked for.
      Chef::Environment.from_hash(name == "_default" ? {} : api.get("environments/#{esc(name)}"), name)
    end

    def data_bags = api.get("data")
    def data_bag(name) = api.get("data/#{esc(name)}")
    def data_bag_item(bag, id)
      found = api.get("data/#{esc(bag)}/#{esc(id)}")
      found.is_a?(Hash) && found["json_class"] == "Chef::DataBagItem" && found["raw_data"] ? found["raw_data"] : found
    end

    def search(type, query, start, rows, filter)
      # Spaces and what ends a value are escaped; colons and stars stay as people write them.
      q = query.to_s.b.gsub(%r{[^A-Za-z0-9\-._~!$'()*,:@/?]}n) { |c| format("%%%02X", c.ord) }
      path = "search/#{esc(type)}?q=#{q}&start=#{start}#{"&rows=#{rows}" if rows}"
      return inflated(type.to_s, api.get(path)) unless filter
      answer = api.post(path, filter.to_h { |k, v| [k.to_s, Array(v).map(&:to_s)] })
      answer.merge("rows" => answer["rows"].map { |r| r && r["data"] })
    end
    # Rows as the objects that they describe.
    def inflated(type, answer)
      rows = answer["rows"].map do |row|
        case type
        when "node" then Chef::Node.from_hash(row)
        when "role" then Chef::Role.from_hash(row, row["name"])
        when "environment" then Chef::Environment.from_hash(row, row["name"])
        when "client" then Chef::ApiClient.from_hash(row)
        else Chef::DataBagItem.from_hash(row["raw_data"] || row).tap { |i| i.data_bag = row["data_bag"] || type }
        end
      end
      answer.merge("rows" => rows)
    end

    def loose = nil
    def policy(group, name) = api.get("policy_groups/#{esc(group)}/policies/#{esc(name)}")

    # Every locked cookbook, used or not.
    def artifacts(lock)
      resolved(lock["cookbook_locks"].keys) do
        lock["cookbook_locks"].to_h do |name, l|
          [name, manifests.get("cookbook_artifacts/#{esc(name)}/#{esc(l["identifier"])}")]
        end
      end
    end
    def cookbooks(environment, expansion)
      recipes = expansion.recipes_with_version_constraints.map { |r, v| v ? "#{r}@#{v}" : r }
      resolved(recipes) do
        body = FX.json("run_list" => recipes)
        manifests.post("environments/#{esc(environment.name)}/cookbook_versions", body)
      end
    end

    # Files of the cookbooks are brought here, where they differ from those of the last run.
    def settle(keep_others)
      cache.synchronize(keep_others)
    rescue SystemExit
      raise
    rescue Exception => e
      Chef::FxInspectors.describe(:sync, e)
      raise
    end
    # What the run did not use is removed once it ended well.
    def cleaned = @cache&.clean

    private

    attr_reader :cache

    def resolved(recipes)
      @cache = Chef::FxCookbookCache.new(yield)
      @cache.books
    rescue Exception => e
      Chef::FxInspectors.describe(:resolve, e, recipes)
      raise
    end
  end

  # The node as it is saved: all of its levels, but what the configuration keeps back.
  module FxKeptNode
    LEVELS = %w{automatic normal default override}.freeze
    def self.of(node)
      document = node.for_json
      document["json_class"] = "Chef::Node"
      LEVELS.each { |level| document[level] = chosen(document[level], level) }
      document
    end
    def self.chosen(data, level)
      allowed = Chef::Config[:"allowed_#{level}_attributes"] || Chef::Config[:"#{level}_attribute_whitelist"]
      blocked = Chef::Config[:"blocked_#{level}_attributes"] || Chef::Config[:"#{level}_attribute_blacklist"]
      data = only(data, allowed) if allowed
      data = without(data, blocked) if blocked
      data
    end
    def self.parts(path) = path.is_a?(Array) ? path : path.split("/")
    def self.only(data, paths)
      paths.map { |p| parts(p) }.each_with_object({}) do |path, out|
        *dirs, last = path
        from = dirs.inject(data) { |h, k| h.is_a?(Hash) ? h[k] : nil }
        next unless from.is_a?(Hash) && from.key?(last)
        dirs.inject(out) { |h, k| h[k] ||= {} }[last] = from[last]
      end
    end
    def self.without(data, paths)
      data = Chef::JSONCompat.parse(FX.json(data))
      paths.each do |path|
        *dirs, last = parts(path)
        from = dirs.inject(data) { |h, k| h.is_a?(Hash) ? h[k] : nil }
        from.delete(last) if from.is_a?(Hash)
      end
      data
    end
  end
end
