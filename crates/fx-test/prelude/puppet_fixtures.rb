# Modules that specs compile with: the project itself, what .fixtures.yml links, and what is there already.
module RSpec
  module Puppet
    module Fixtures
      HOME = "spec/fixtures/modules"

      def self.modules
        given = RSpec.configuration.module_path
        given && !given.to_s.empty? ? given.to_s : "#{Dir.pwd}/#{HOME}"
      end

      # Lays out what is missing, and lets `require` find libraries of all modules.
      def self.prepare
        links.each { |name, target| link(name, target) } if File.file?("metadata.json") || File.file?(".fixtures.yml")
        Dir[File.join(Dir.pwd, HOME, "*", "lib")].sort.each { |dir| $LOAD_PATH << dir unless $LOAD_PATH.include?(dir) }
      end

      def self.links
        found = {}
        if File.file?("metadata.json")
          require "json"
          name = ::JSON.parse(File.read("metadata.json"))["name"].to_s[/[a-z0-9_]+\z/]
          found[name] = Dir.pwd if name
        end
        found.merge(listed)
      rescue ::JSON::ParserError
        listed
      end

      # Symlinks, and repositories that are directories of this machine.
      def self.listed
        return {} unless File.file?(".fixtures.yml")
        require "yaml"
        all = YAML.safe_load(File.read(".fixtures.yml"), permitted_classes: [Symbol], aliases: true)
        all = all["fixtures"] if all.is_a?(Hash) && all["fixtures"].is_a?(Hash)
        return {} unless all.is_a?(Hash)
        local = (all["repositories"] || {}).transform_values { |one| place(one.is_a?(Hash) ? one["repo"] : one) }
        links = (all["symlinks"] || {}).transform_values { |one| place(one.is_a?(Hash) ? one["target"] : one) }
        local.select { |_, target| target.start_with?("/") && File.directory?(target) }.merge(links)
      end
      def self.place(text) = text.to_s.sub(/\#\{source_dir\}/, Dir.pwd).delete_prefix("file://")

      def self.link(name, target)
        return unless name.to_s.match?(/\A[a-z][a-z0-9_]*\z/) && File.directory?(target)
        path = File.join(HOME, name)
        return if File.symlink?(path) || File.exist?(path)
        require "fileutils"
        FileUtils.mkdir_p(HOME)
        File.symlink(File.expand_path(target), path)
      rescue SystemCallError => e
        warn("the fixture '#{name}' cannot be linked: #{e.message}")
      end
    end
  end
end
