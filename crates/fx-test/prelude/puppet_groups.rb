# Groups about classes, defines, functions, hosts and type aliases: what they compile.
module RSpec
  module Puppet
    module Errors
      class Error < StandardError; end
      class RegexpMatchError < Error; end
      class EqualityError < Error; end
      class ProcMatchError < Error; end
      class BeforeRelationshipError < Error; end
    end

    # Settings of rspec-puppet.
    SETTINGS = %i[module_path manifest_dir manifest template_dir config confdir environmentpath parser hiera_config
                  default_facts default_node_params default_trusted_facts default_trusted_external_data
                  enable_pathname_stubbing setup_fixtures derive_node_facts_from_nodename strict_variables
                  ordering stringify_facts trusted_node_data trusted_server_facts use_fixture_spec_hiera
                  fixture_hiera_configs fallback_to_default_hiera disable_module_hiera facter_implementation
                  facterdb_string_keys default_facter_version vardir basemodulepath vendormoduledir].freeze

    # What a reference in parameters prints as.
    class RawString
      def initialize(value) = @value = value
      def inspect = @value
      alias to_s inspect
    end
    class Sensitive
      def initialize(value) = @value = value
      def unwrap = @value
      def inspect = "Sensitive(#{Support.literal(@value)})"
      def sensitive? = true
      def ==(other) = other.is_a?(Sensitive) ? other.unwrap == @value : @value == other
    end

    # How a group makes its manifest and what it compiles it with.
    module Support
      def self.literal(value)
        case value
        when :undef, :default then value.to_s
        when RawString, Sensitive then value.inspect
        when Symbol then literal(value.to_s)
        when Hash then "{ #{value.map { |key, one| "#{literal(key)} => #{literal(one)}" }.join(", ")} }"
        when Array then "[ #{value.map { |one| literal(one) }.join(", ")} ]"
        when nil then "nil"
        when Regexp then "/#{value.source}/"
        else value.inspect.gsub("$", "\\$")
        end
      end
      def self.attributes(params) = params.map { |key, value| "#{key} => #{literal(value)}" }.join(", ")
      # Names of facts are lower case, at every level, and texts.
      def self.stringified(value, lower = true)
        case value
        when Hash then value.to_h { |key, one| [lower ? key.to_s.downcase : key.to_s, stringified(one, lower)] }
        when Array then value.map { |one| stringified(one, lower) }
        when Symbol then value == :undef ? nil : value.to_s
        else value
        end
      end

      def subject = -> { catalogue }
      def catalogue = @catalogue ||= load_catalogue
      def exported_resources = -> { Catalogue.new(catalogue.data, exported: true) }
      def ref(type, title) = RawString.new("#{type}['#{title}']")
      def sensitive(value) = Sensitive.new(value)
      def environment = "rp_env"
      def nodename(_type = nil) = respond_to?(:node) ? node : FxHostName.name
      def build_facts_hash(_node = nil) = facts_hash

      def wish_text(code)
        wish = { node: nodename, code: code, modulepath: Fixtures.modules, environment: environment,
                 hiera_config: hiera_file, settings: { strict_variables: RSpec.configuration.strict_variables.to_s },
                 extensions: trusted }
        require "json"
        ::JSON.generate(wish)
      end
      def facts_text
        own = respond_to?(:facts) ? facts : nil
        known = FxPuppet.facts(RSpec.configuration.default_facts, own, nodename, environment, respond_to?(:node))
        known || ::JSON.generate(facts_hash)
      end
      def load_catalogue(code = manifest_text)
        Catalogue.asked(wish_text(code), facts_text).tap { |made| note_coverage(made) }
      end
      # What the group is about is covered by its being there.
      def note_coverage(made)
        kind = self.class.metadata[:type]
        subject = kind == :define ? [test_name, respond_to?(:title) ? title.to_s : top_name] : [kind.to_s, test_name]
        Coverage.instance.note(made, kind == :host ? nil : test_name.split("::").first, subject)
      end

      def manifest_text
        [fixture_manifest, pre_text, test_line, post_text].reject { |part| part.to_s.empty? }.join("\n")
      end
      def fixture_manifest
        file = RSpec.configuration.manifest
        file && File.file?(file.to_s) ? File.read(file.to_s) : ""
      end
      def pre_text = respond_to?(:pre_condition) && pre_condition ? Array(pre_condition).join("\n") : ""
      def post_text = respond_to?(:post_condition) && post_condition ? Array(post_condition).join("\n") : ""
      def params_given = respond_to?(:params) && params ? params : {}
      def hiera_file
        file = respond_to?(:hiera_config) ? hiera_config : RSpec.configuration.hiera_config
        file && File.file?(file.to_s) ? File.expand_path(file.to_s) : nil
      end
      def trusted = respond_to?(:trusted_facts) ? Support.stringified(trusted_facts) : {}
      # The name the test is about: the outermost description.
      def top_name = self.class.parent_groups.last.metadata[:description_args].first.to_s
      def test_name = top_name.downcase

      def facts_hash
        name = nodename
        short, domain = name.split(".", 2)
        domain ||= ""
        base = Support.stringified(RSpec.configuration.default_facts || {})
        networking = { "hostname" => short, "fqdn" => name, "domain" => domain }
        names = { "hostname" => short, "fqdn" => name, "domain" => domain, "clientcert" => name }
        result = names.merge("ipaddress6" => "FE80:0000:0000:0000:AAAA:AAAA:AAAA", "clientversion" => "7.23.0",
          "environment" => environment)
        result = result.merge(base)
        result = result.merge(Support.stringified(facts)) if respond_to?(:facts) && facts
        result = result.merge(names) if respond_to?(:node)
        result["networking"] = networking.merge(result["networking"].is_a?(Hash) ? result["networking"] : {})
        result["networking"] = result["networking"].merge(networking) if respond_to?(:node)
        result
      end
    end

    module ClassExampleGroup
      include Support
      def test_line
        params_given.empty? ? "include #{test_name}" : "class { '#{test_name}': #{Support.attributes(params_given)} }"
      end
    end
    module DefineExampleGroup
      include Support
      def test_line
        name = respond_to?(:title) ? title : top_name
        "#{test_name} { #{Support.literal(name)}: #{Support.attributes(params_given)} }"
      end
    end
    module HostExampleGroup
      include Support
      def nodename(_type = nil) = respond_to?(:node) ? node : top_name
      def test_line = ""
    end
    module TypeExampleGroup
      include Support
      def test_line = ""
      def subject = @fx_type ||= [::Puppet::Type.type(test_name), title, params_given]
    end
    module TypeAliasExampleGroup
      include Support
      def nodename(_type = nil) = respond_to?(:node) ? node : top_name
      def test_line = ""
      def subject = self
      def accepts?(value)
        load_catalogue("#{pre_text}\n$val = #{Support.literal(value)}\nassert_type(#{top_name}, $val)")
        [true, nil]
      rescue ::Puppet::Error => e
        [false, e.message]
      end
    end
    module FunctionExampleGroup; end

    KINDS = { class: ClassExampleGroup, define: DefineExampleGroup, host: HostExampleGroup, type: TypeExampleGroup,
              type_alias: TypeAliasExampleGroup, puppet_function: FunctionExampleGroup,
              function: FunctionExampleGroup }.freeze
    FOLDERS = { "classes" => :class, "defines" => :define, "hosts" => :host, "types" => :type,
                "type_aliases" => :type_alias, "functions" => :puppet_function }.freeze

    # The machine's own name, where no spec gives one.
    require "socket"
    module FxHostName
      def self.name
        @name ||= begin
          found = Socket.gethostname
          found.to_s.empty? ? "localhost" : found
        end
      end
    end
    Support.const_set(:FxHostName, FxHostName)

    def self.set_up
      config = RSpec.configuration
      SETTINGS.each { |name| config.add_setting(name) }
      config.default_facts = {}
      config.strict_variables = true
      config.define_derived_metadata do |metadata|
        folder = metadata[:file_path].to_s[%r{spec/([a-z_]+)/}, 1]
        metadata[:type] = FOLDERS[folder] if !metadata.key?(:type) && FOLDERS.key?(folder)
      end
      KINDS.each { |type, mod| config.include(mod, type: type) }
      config.include(ManifestMatchers)
    end
  end
end
