# Words of the recipe language that look something up: platforms, data, secrets, reboots.
class Chef
  module DSL
    module PlatformIntrospection
      def platform?(*names) = names.flatten.any? { |p| p.to_s.downcase == __fx_node[:platform].to_s.downcase }
      def platform_family?(*names) = names.flatten.any? { |p| p.to_s == __fx_node[:platform_family].to_s }
      def __fx_node = is_a?(Chef::Node) ? self : (respond_to?(:node) && node) || Chef.node

      def value_for_platform(map)
        n = __fx_node
        platform, version = n[:platform].to_s, n[:platform_version].to_s
        map.each do |names, versions|
          next unless Array(names).map(&:to_s).include?(platform)
          raise ArgumentError, "Missing default in platform_map: #{map}" unless versions.is_a?(Hash)
          exact = versions.find { |k, _| Array(k).map(&:to_s).include?(version) }
          return exact[1] if exact
          found = versions.select do |k, _|
            Array(k).any? { |c| c.to_s != "default" && c.to_s.match?(/[<>=~]|\A\d/) && fx_matches?(c.to_s, version) }
          end
          raise "Multiple matches detected for #{platform} #{version}: #{found.keys.inspect}" if found.size > 1
          return found.values[0] if found.size == 1
          return versions["default"] || versions[:default] if versions.key?("default") || versions.key?(:default)
        end
        map["default"] || map[:default]
      end
      def fx_matches?(constraint, version)
        Chef::VersionConstraint.new(constraint).include?(version)
      rescue StandardError
        false
      end
      def value_for_platform_family(map)
        family = __fx_node[:platform_family].to_s
        map.each { |names, v| return v if Array(names).map(&:to_s).include?(family) }
        map["default"] || map[:default]
      end
      def docker?(node = __fx_node) = !!(node && node.read("virtualization", "systems", "docker") == "guest")
      def ssl_certificate(*) = nil
    end

    module DataQuery
      def data_bag(bag)
        Chef::DataBag.load(bag).keys.sort
      rescue StandardError
        Chef::Log.error("Failed to list data bag items in data bag: #{bag.inspect}")
        raise
      end
      def data_bag_item(bag, item, secret = nil)
        loaded = Chef::DataBagItem.load(bag, item)
        if Chef::EncryptedDataBagItem.encrypted?(loaded.raw_data)
          loaded = Chef::EncryptedDataBagItem.new(loaded.raw_data, secret || Chef::EncryptedDataBagItem.load_secret)
        end
        loaded
      rescue StandardError
        Chef::Log.error("Failed to load data bag item: #{bag.inspect} #{item.inspect}")
        raise
      end
      def search(*args, &block) = Chef::Search::Query.new.search_dsl(*args, &block)
      def tagged?(*tags) = tags.all? { |t| __fx_node.tags.include?(t) }
    end

    module RebootPending
      def reboot_pending? = ::File.exist?("/var/run/reboot-required") ? true : false
    end
    module RegistryHelper
      %i{registry_key_exists? registry_get_values registry_has_subkeys? registry_get_subkeys registry_value_exists?
        registry_data_exists?}.each do |m|
        define_method(m) { |*| raise "#{m} is not on this platform" }
      end
    end
    module ChefVault
      def chef_vault_item(bag, id)
        return ::ChefVault::Item.load(bag, id) if ::ChefVault::Item.vault?(bag, id)
        return data_bag_item(bag, id) if __fx_node["chef-vault"]["databag_fallback"]
        raise "Trying to load a regular data bag item #{id} from #{bag}, and databag_fallback is disabled"
      end

      def chef_vault(bag)
        raise "'#{bag}' is not a vault" unless Chef::DataBag.list.include?(bag)
        data_bag(bag).reject { |id| id.match?(/_keys$/) }
      end

      def chef_vault_item_for_environment(bag, id)
        chef_vault_item(bag, id)[__fx_node.chef_environment] || {}
      end
    end
    module Secret
      def secret(*)
        raise NotImplementedError, "secret: no secret service is supported yet"
      end
      def default_secret_service(*) = nil
      def default_secret_config(**) = nil
    end
    module RenderHelpers
      def render_json(hash) = Chef::JSONCompat.to_json_pretty(hash) + "\n"
      def render_yaml(hash) = hash.to_yaml
      def render_toml(*)
        raise NotImplementedError, "render_toml is not supported yet"
      end
    end
    module Cheffish; end
    module Powershell; end
    module ToText; end
    module Audit; end
    module CompileTime; end
    module IncludeAttribute
      def include_attribute(*names) = node.include_attribute(*names)
    end
  end
end
