# What groups and examples about recipes may call.
module ChefSpec
  module API
    # For a group: its platform, attributes, the resources it steps into, a recipe of its own.
    module Group
      def platform(name, version = nil)
        let(:chefspec_platform) { name }
        let(:chefspec_platform_version) { version }
      end
      def recipe(&block)
        let(:chef_run) { chef_runner.converge_block(&block) }
      end
      %i[default_attributes normal_attributes override_attributes automatic_attributes chefspec_options].each do |name|
        define_method(name) { (@chefspec ||= {})[name] ||= ::Chef::Node::VividMash.new }
      end
      def step_into(*names)
        @chefspec_step_into = (@chefspec_step_into || []) | names.flatten.map(&:to_s)
      end

      def stubs_for_resource(*args, **options, &block) = before { stubs_for_resource(*args, **options, &block) }
      def stubs_for_current_value(*args, &block) = before { stubs_for_current_value(*args, &block) }
      alias stubs_for_current_resource stubs_for_current_value
      def stubs_for_provider(*args, &block) = before { stubs_for_provider(*args, &block) }
    end

    # A value that all examples of a group share.
    module Cacher
      def cached(name, &block)
        kept = nil
        define_method(name) { kept ||= instance_eval(&block) }
      end
      def cached!(name, &block)
        cached(name, &block)
        before { __send__(name) }
      end
    end

    def self.included(group)
      super
      return unless group.is_a?(Class)
      group.extend(Group)
      group.around { |example| ChefSpec::API.around(self, example) }
      group.before do
        StubsFor.example = self
        allow(::Chef).to receive(:node) { chef_node } if chefspec_platform
      end
      described = group.described_class
      group.subject { chef_run } if described.nil? || about_resources?(described)
    end
    def self.about_resources?(one) = one.is_a?(Class) && (one < ::Chef::Resource || one < ::Chef::Provider)

    # Around an example: what it stands on is read, what it stubbed is forgotten.
    def self.around(group, example)
      preload(group.chef_runner_instance) if group.chefspec_platform
      example.run
    ensure
      Stubs.forget
      StubsFor.forget
      ServerData.forget
    end
    PRELOADED = {}
    def self.preload(runner)
      key = runner.options.values_at(:cookbook_root, :cookbook_path, :platform, :version)
      return if PRELOADED[key]
      runner.preload!
      PRELOADED[key] = true
    end

    def chefspec_platform = nil
    def chefspec_platform_version = nil
    %i[default_attributes normal_attributes override_attributes automatic_attributes].each do |name|
      define_method(:"chefspec_#{name}") { __memoized(:"chefspec_#{name}") { chefspec_attributes(name) } }
    end
    def chef_runner_options
      options = { step_into: chefspec_groups.flat_map(&:step_into).uniq,
                  default_attributes: chefspec_default_attributes, normal_attributes: chefspec_normal_attributes,
                  override_attributes: chefspec_override_attributes,
                  automatic_attributes: chefspec_automatic_attributes,
                  spec_declaration_locations: chefspec_groups.first.file_path }
      options[:platform] = chefspec_platform if chefspec_platform
      options[:version] = chefspec_platform_version if chefspec_platform_version
      options.merge(chefspec_attributes(:chefspec_options).to_h.transform_keys(&:to_sym))
    end
    def chef_runner_class = SoloRunner
    def chef_runner_instance = chef_runner_class.new(chef_runner_options)
    def chef_runner = __memoized(:chef_runner) { chef_runner_instance }
    def chef_run = __memoized(:chef_run) { chef_runner.converge(described_recipe) }
    def chef_node = __memoized(:chef_node) { chef_runner.node }

    def described_recipe = self.class.parent_groups.last.description.to_s
    def described_cookbook = described_recipe.split("::").first

    def stub_command(command, &block) = Stubs.add(:command, [command], block)
    def stub_data_bag(bag, &block) = Stubs.add(:data_bag, [bag], block)
    def stub_data_bag_item(bag, id, &block) = Stubs.add(:data_bag_item, [bag, id], block)
    def stub_search(type, query = "*:*", &block) = Stubs.add(:search, [type, query], block)
    def stub_node(*args, &block)
      options = args.last.is_a?(Hash) ? args.pop : {}
      facts = Fauxhai.mock(options).data.merge(options[:ohai] || {})
      ::Chef::Node.new.tap do |one|
        one.name(args.first || "node.example")
        one.automatic = facts
        one.instance_eval(&block) if block
      end
    end

    def stubs_for_resource(target = nil, current_value: true, current_resource: true, &block)
      StubsFor.add(:resource, target, block)
      StubsFor.add(:current_value, target, block) if current_value && current_resource
    end
    def stubs_for_current_value(target = nil, &block) = StubsFor.add(:current_value, target, block)
    alias stubs_for_current_resource stubs_for_current_value
    def stubs_for_provider(target = nil, &block) = StubsFor.add(:provider, target, block)
    # A command that is asked for, and what it gives.
    def receive_shell_out(*words, stdout: "", stderr: "", exitstatus: 0, **options)
      command = Command.new(words, stdout, stderr, exitstatus)
      tail = options.empty? ? [any_args] : [hash_including(options)]
      receive(:shell_out_compacted).with(*words, *tail).and_return(command)
    end

    def include_recipe(name) = Matchers::IncludeRecipeMatcher.new(name)
    def include_any_recipe = Matchers::IncludeAnyRecipeMatcher.new
    alias include_any_recipes include_any_recipe
    def render_file(path) = Matchers::RenderFileMatcher.new(path)
    def notify(signature) = Matchers::NotificationsMatcher.new(signature)
    def subscribe_to(signature) = Matchers::SubscribesMatcher.new(signature)
    def do_nothing = Matchers::DoNothingMatcher.new
    def link_to(path) = Matchers::LinkToMatcher.new(path)
    def have_state_attrs(*names) = Matchers::StateAttrsMatcher.new(names)
    def now_reboot(name) = Matchers::ResourceMatcher.new(:reboot, :reboot_now, name)
    def request_reboot(name) = Matchers::ResourceMatcher.new(:reboot, :request_reboot, name)

    # `install_package("x")`: any action of any resource.
    def method_missing(name, *args, &block)
      found = args.size == 1 ? Words.split(name) : nil
      found ? Matchers::ResourceMatcher.new(*found, args.first) : super
    end
    def respond_to_missing?(name, priv = false) = !Words.split(name).nil? || super

    private

    def chefspec_groups = self.class.parent_groups.reverse
    def chefspec_attributes(name)
      chefspec_groups.map(&name).reject(&:empty?).reduce(::Mash.new) do |all, one|
        ::Chef::Mixin::DeepMerge.merge(all, one)
      end
    end
  end

  # A command that was never run.
  class Command < ::Mixlib::ShellOut
    attr_reader :stdout, :stderr, :exitstatus
    def initialize(words, stdout, stderr, exitstatus)
      super(*words)
      @stdout, @stderr, @exitstatus = stdout, stderr, exitstatus
    end
    def run_command = self
    def error? = @exitstatus != 0
    def error!
      return unless error?
      raise ::Mixlib::ShellOut::ShellCommandFailed, "Expected process to exit with [0], but received '#{@exitstatus}'"
    end
  end
end

# The original has these loaded.
%w[tmpdir tempfile fileutils pathname json yaml set].each { |name| require name }

RSpec.configure do |config|
  %i[policyfile_path file_cache_path cookbook_root cookbook_path role_path environment_path path platform
     version].each { |name| config.add_setting(name) }
  config.add_setting(:berkshelf_options, default: {})
  config.add_setting(:log_level, default: :warn)
  config.add_setting(:server_runner_data_store, default: :in_memory)
  config.add_setting(:server_runner_clear_cookbooks, default: true)
  config.add_setting(:server_runner_port, default: 8889..8899)
  config.extend(ChefSpec::API::Cacher)
  config.include(ChefSpec::API) unless ENV["CHEFSPEC_NO_INCLUDE"]
end
