# The library with Chef's settings, by its own name.
module ChefConfig
  VERSION = "18.11.21"
  Config = Chef::Config
  PathHelper = Chef::Util::PathHelper
  class ConfigurationError < ArgumentError; end
  class InvalidPath < StandardError; end
  def self.windows? = false
  def self.logger = Chef::Log
end
