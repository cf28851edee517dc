# A run by a Policyfile: the lock names run lists, attributes and each cookbook by its identifier.
class Chef
  module PolicyBuilder
    class Policyfile
      class UnsupportedFeature < StandardError; end
      class PolicyfileError < StandardError; end
      class ConfigurationError < StandardError; end
      attr_reader :name, :group

      def initialize(attrs, override)
        unless Chef::Config[:environment].to_s.chomp.empty?
          raise UnsupportedFeature, "Policyfile does not work with an Environment configured."
        end
        @attrs, @override = attrs, override
        @name = Chef::Config[:policy_name] = attrs["policy_name"] || Chef::Config[:policy_name]
        @group = Chef::Config[:policy_group] = attrs["policy_group"] || Chef::Config[:policy_group]
        raise ConfigurationError, "Setting `policy_group` is not configured." unless @group || loose
        raise ConfigurationError, "Setting `policy_name` is not configured." unless @name || loose
        @name ||= lock["name"]
        @group ||= "local"
        check
      end

      def location = "policy_groups/#{@group}/policies/#{@name}"
      def store = Chef::FxStore.current
      # A lock next to the cookbooks needs neither name nor group.
      def loose = store.loose

      def lock
        @lock ||= store.policy(@group, @name) || unreadable('Net::HTTPClientException - 404 "Not Found"')
      rescue Net::HTTPServerException => e
        unreadable("#{e.class} - #{e.message}")
      end
      def unreadable(why) = raise(ConfigurationError, "Error loading policyfile from `#{location}': #{why}")

      def run_list
        return @override if @override
        return @attrs["run_list"] if @attrs["run_list"]
        asked = Chef::Config[:named_run_list]
        return lock["run_list"] unless asked
        lists = lock["named_run_lists"] || {}
        lists[asked] or raise ConfigurationError,
          "Policy '#{lock["name"]}' revision '#{lock["revision_id"]}' does not have named_run_list '" \
          "#{asked}'(available named_run_lists: [#{lists.keys.join(", ")}])"
      end

      def check
        errors = []
        list = run_list
        errors << "Policyfile is missing run_list element" unless list
        errors << "Policyfile is missing cookbook_locks element" unless lock.key?("cookbook_locks")
        if list.is_a?(Array)
          list.each do |item|
            unless item.to_s.match?(/recipe\[[^:\]]+(::[^:\]]+)?\]/)
              errors << "invalid recipe specification #{item} in Policyfile from #{location}"
            end
          end
        else
          errors << "Policyfile run_list is malformed, must be an array of `recipe[cb_name::recipe_name]` items: " \
            "#{lock["run_list"]}"
        end
        unless errors.empty?
          raise PolicyfileError, "Policyfile fetched from #{location} was invalid:\n#{errors.join("\n")}"
        end
        list.each do |item|
          unless lock["cookbook_locks"].key?(split(item)[0])
            raise PolicyfileError, "invalid run_list item '#{item}' not in cookbook set of PolicyFile #{location}"
          end
        end
      end

      def split(item)
        inner = item.to_s[/recipe\[([^\]]+)\]/, 1]
        inner.include?("::") ? inner.split("::", 2) : [inner, "default"]
      end
      def recipes = run_list.map { |item| split(item).join("::") }
      def shown
        run_list.map do |item|
          split(item).then do |c, r|
            lock["cookbook_locks"][c].then { |l| "#{c}::#{r}@#{l["version"]} (#{l["identifier"].to_s[0, 7]})" }
          end
        end
      end

      def apply(node)
        node.run_list = Chef::RunList.new(*run_list)
        node.chef_environment(@group)
        node.policy_name = @name
        node.policy_group = @group
        node.role_default = hoisted("default_attributes")
        node.role_override = hoisted("override_attributes")
        { "policy_revision" => lock["revision_id"], "policy_name" => @name, "policy_group" => @group,
          "chef_environment" => @group, "roles" => [], "recipes" => recipes, "expanded_run_list" => recipes }
          .each { |k, v| node.automatic[k] = v }
        Chef::Log.info("Run List is [#{run_list}]")
        Chef::Log.info("Run List expands to [#{shown.join(", ")}]")
      end

      # Values under the group's own name count as if they stood at the top.
      def hoisted(key)
        all = lock[key] || {}
        mine = all[@group]
        mine.is_a?(Hash) ? ChefUtils::Mash.new(deep(all, mine)) : ChefUtils::Mash.new(all)
      end
      def deep(low, high) = low.merge(high) { |_, a, b| a.is_a?(Hash) && b.is_a?(Hash) ? deep(a, b) : b }
    end
  end
end
