# Which class answers to a name on this node.
class Chef
  class NodeMap
    def initialize
      @map = {}
      # What was found, until the next class comes.
      @hits = {}
    end

    def set(key, klass, platform: nil, platform_version: nil, platform_family: nil, os: nil, chef_version: nil,
      target_mode: nil, override: nil, canonical: nil, agent_mode: nil, **_, &block)
      return if chef_version && !Array(chef_version).any? { |c| Chef::VersionConstraint.new(c).include?(Chef::VERSION) }
      filter = { platform: platform, platform_version: platform_version, platform_family: platform_family, os: os,
        block: block }.compact
      @hits.clear
      list = (@map[key.to_sym] ||= [])
      list.reject! { |k, f, _| k == klass && f == filter }
      at = list.index { |_, f, _| weight(f) <= weight(filter) } || list.size
      list.insert(at, [klass, filter, nil])
      klass
    end

    def weight(f)
      (f[:block] ? 16 : 0) + (f[:platform_version] ? 8 : 0) + (f[:platform] ? 4 : 0) + (f[:platform_family] ? 2 : 0) +
        (f[:os] ? 1 : 0)
    end

    def delete_class(klass) = @map.each_value { |l| l.reject! { |k, _, _| k == klass } }
    def names_of(klass) = @map.select { |_, l| l.any? { |k, _, _| k == klass } }.keys
    def locked?(*) = false
    def lock!(*) = nil

    def matches?(node, f)
      return true if f.empty? || node.nil?
      return false if f[:os] && !in_list?(f[:os], node["os"])
      return false if f[:platform_family] && !in_list?(f[:platform_family], node["platform_family"])
      return false if f[:platform] && !in_list?(f[:platform], node["platform"])
      if f[:platform_version] && !Array(f[:platform_version]).any? do |c|
        c == :all || Chef::VersionConstraint.new(c).include?(node["platform_version"].to_s)
      end
        return false
      end
      f[:block].nil? || f[:block] == true || !!f[:block].call(node)
    end

    # A list of names, some of them refused with a leading "!".
    def in_list?(names, value)
      names = Array(names).map(&:to_s)
      return true if names.include?("all")
      no, yes = names.partition { |n| n.start_with?("!") }
      return false if no.include?("!#{value}")
      yes.empty? || yes.include?(value.to_s)
    end

    def list(node, key)
      (@map[key.to_sym] || []).select { |_, f, _| matches?(node, f) }.map(&:first)
    end

    def get(node, key)
      key = key.to_sym
      if (hit = @hits[key]) && hit[0].equal?(node)
        return hit[1]
      end
      klass = search(node, key)
      @hits[key] = [node, klass] if klass
      klass
    end

    def search(node, key)
      found = @map[key]&.find { |_, f, _| matches?(node, f) }
      ours = FX.provides(key)&.find { |_, f| matches?(node, f) }
      # The more specific one; of two alike that of a cookbook, which came later.
      return found[0] if found && (ours.nil? || weight(ours[1]) <= weight(found[1]))
      ours && ours[0].split("::").inject(Chef::Resource) { |m, n| m.const_get(n, false) }
    end

    def resolve!(node, key)
      hit = get(node, key)
      return hit if hit
      if @map.key?(key) || FX.provides(key)
        raise Chef::Exceptions::NoSuchResourceType,
          "Cannot find a resource for #{key} on #{node["platform"]} version #{node["platform_version"]} with " \
          "target_mode? false"
      end
      raise Chef::Exceptions::NoSuchResourceType,
        "Cannot find a resource for #{key} on #{node["platform"]} version #{node["platform_version"]} with " \
        "target_mode? false"
    end
  end

  class ResourceResolver
    def self.resolve(name, node: nil, canonical: nil) = Chef.resource_handler_map.get(node || Chef.node, name.to_sym)
    def initialize(node, name) = (@node, @name = node, name)
    def resolve = Chef.resource_handler_map.get(@node, @name.to_sym)
    def list = Chef.resource_handler_map.list(@node, @name.to_sym)
  end

  class ProviderResolver
    @by_name = {}
    # Resources of other systems and services, by the start of their names.
    ELSEWHERE = {
      "works on Windows only and is not on this " \
      "platform" => %w{windows_ chocolatey powershell dsc_ msu_package cab_package batch registry_key
      chef_client_scheduled_task},
      "works on macOS only and is not on this " \
      "platform" => %w{dmg_package homebrew_ launchd macos mac_ osx_profile plist macports_package chef_client_launchd},
      "is not on this platform" =>
      %w{bff_package ips_package solaris_ smartos_package freebsd_package openbsd_package paludis_package aix_user
        pw_user},
      "needs Habitat, which fixpoint does not run" => %w{habitat_},
      "needs snapd, which fixpoint does not talk to" => %w{snap_package},
      "needs a Chef Infra Server and its vault, which fixpoint does not talk to" => %w{chef_vault_secret},
      "belongs to the compliance phase, which fixpoint does not run" => %w{inspec_input inspec_waiver},
    }.freeze
    class << self
      def fx_refusal(name) = ELSEWHERE.find { |_, starts| starts.any? { |s| name.start_with?(s) } }&.first

      def by_name(name) = @by_name[name.tr("-", "_")]
      def by_name_set(name, klass) = @by_name[name] = klass

      # By class and action as long as no cookbook provides for a name.
      def resolve(node, resource, action)
        return fx_resolve(node, resource, action) if Chef.provider_handler_map.any?
        by = (@found ||= {})[resource.class] ||= {}
        by[action] ||= fx_resolve(node, resource, action)
      end

      def fx_resolve(node, resource, action)
        name = resource.resource_name
        found = Chef.provider_handler_map.get_custom(node, name) ||
          (resource.declared_type && Chef.provider_handler_map.get_custom(node, resource.declared_type))
        return found if found
        k = resource.class
        while k && k != Chef::Resource
          if k.name == "Chef::Resource::Package"
            by = { "arch" => :PacmanPackage, "gentoo" => :PortagePackage }[node["platform"]] ||
              { "arch" => :PacmanPackage, "gentoo" => :PortagePackage }[node["platform_family"]]
            return Chef::Provider.const_get(by) if by
            break
          elsif k.fx_builtin?
            path = k.name.delete_prefix("Chef::Resource::")
            pr = path.split("::").inject(Chef::Provider) { |m, c| m && (m.const_get(c, false) rescue nil) }
            if pr && (pr.method_defined?(:"action_#{action}") || !k.allowed_actions.include?(action) ||
              %i{diff log}.include?(action))
              return pr
            end
            if pr
              raise Chef::Exceptions::UnsupportedAction,
                "#{resource} #{fx_refusal(k.resource_name.to_s) || "does not support :#{action} yet in fixpoint"}"
            end
          elsif k.name && (c = k.name.split("::").last) && Chef::Provider.const_defined?(c, false)
            return Chef::Provider.const_get(c, false)
          end
          k = k.superclass
        end
        raise Chef::Exceptions::ProviderNotFound,
          "Cannot find a provider for #{resource} on #{node["platform"]} version #{node["platform_version"]}"
      end
    end
    def initialize(node, resource, action) = (@node, @resource, @action = node, resource, action)
    def resolve = ProviderResolver.resolve(@node, @resource, @action)
  end

  class NodeMap
    def any? = !@map.empty?
    def get_custom(node, key) = @map[key]&.find { |_, f, _| matches?(node, f) }&.first
  end
end
