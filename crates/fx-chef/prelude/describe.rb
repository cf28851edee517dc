# What files of a repository say, as the documents that a server keeps: metadata of cookbooks,
# roles and environments that are written in Ruby.
class Chef
  module FxDescribe
    # Each item is a kind and a path; each answer its document, or the reason why there is none.
    def self.all(items)
      items.map do |kind, path|
        { "document" => of(kind, path) }
      rescue StandardError, SyntaxError => e
        { "error" => "#{path}: #{e.class}: #{e.message}" }
      end
    end

    def self.of(kind, path)
      name = ::File.basename(path, ".rb")
      case kind
      when "metadata" then metadata(Chef::Cookbook::Metadata.new.from_file(path))
      when "role" then role(read(Chef::Role.new, name, path))
      when "environment" then environment(read(Chef::Environment.new, name, path))
      when "config" then config(path)
      else raise ArgumentError, "unknown kind #{kind}"
      end
    end

    SETTINGS = %i{chef_server_url node_name client_key cookbook_path chef_repo_path trusted_certs_dir ssl_verify_mode
      ssl_ca_file http_retry_count http_retry_delay rest_timeout environment authentication_protocol_version
      validation_client_name http_proxy https_proxy no_proxy}.freeze
    # What a configuration sets; the rest is for whoever reads it.
    def self.config(path)
      Chef::Config.reset
      Chef::Config[:config_file] = path
      Chef::Config.from_file(path)
      SETTINGS.select { |name| Chef::Config.given?(name) }.to_h { |name| [name.to_s, plain(Chef::Config[name])] }
    end
    def self.plain(value) = value.is_a?(Array) ? value.map(&:to_s) : value.is_a?(Symbol) ? value.to_s : value

    def self.read(object, name, path)
      object.name(name)
      FX.eval_file(path, object)
      object
    end

    def self.metadata(m)
      {
        "name" => m.name, "description" => m.description, "long_description" => m.long_description,
        "maintainer" => m.maintainer, "maintainer_email" => m.maintainer_email,
        "license" => m.license.to_s.empty? ? "All rights reserved" : m.license,
        "platforms" => m.platforms.to_hash, "dependencies" => m.dependencies.to_hash,
        "providing" => m.providing.to_hash, "recipes" => m.recipes.to_hash, "version" => m.version,
        "source_url" => m.source_url, "issues_url" => m.issues_url, "privacy" => m.privacy == true,
        "chef_versions" => m.chef_versions, "ohai_versions" => m.ohai_versions, "gems" => m.gems,
        "eager_load_libraries" => m.eager_load_libraries,
      }
    end

    def self.role(r)
      lists = r.env_run_lists.reject { |name, _| name == "_default" }
      r.to_hash.merge("description" => r.description, "json_class" => "Chef::Role",
        "env_run_lists" => lists.transform_values { |l| l.map(&:to_s) })
    end

    def self.environment(e)
      {
        "name" => e.name, "description" => e.description, "cookbook_versions" => e.cookbook_versions,
        "json_class" => "Chef::Environment", "chef_type" => "environment",
        "default_attributes" => e.default_attributes.to_hash, "override_attributes" => e.override_attributes.to_hash,
      }
    end
  end
end
