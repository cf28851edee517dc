# Chef::Platform: what cookbooks ask of it.
class Chef
  class Platform
    module ServiceHelpers
      def self.service_resource_providers = [:systemd]
      def self.config_for_service(_name) = []
    end
    class << self
      def windows? = false
      def windows_server_2003? = false
      def supports_dsc?(*) = false
      def find_provider_for_node(node, resource) = Chef::ProviderResolver.resolve(node, resource, :nothing)
    end
  end
end
