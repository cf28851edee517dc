# Chef's classes as specs have them: a resource notes that it was asked to act and does nothing more, unless the
# spec steps into it; a guard, a search or a command is what the spec says.
class Chef
  class Resource
    # Before what classes say themselves: the rest of a resource comes after its stubs.
    module FxSpec
      def initialize(*args, &block)
        super
        ChefSpec::StubsFor.apply(self, ChefSpec::StubsFor.loading? ? :current_value : :resource)
      end
      def dup = super.tap { |one| ChefSpec::StubsFor.apply(one, :current_value) if ChefSpec::StubsFor.loading? }

      def run_action(action, _type = nil, _notifier = nil)
        resolve_notification_references
        raise ArgumentError, "nil is not a valid action for resource #{self}" if action.nil?
        ChefSpec::Coverage.add(self)
        return if should_skip?(action)
        runner = node.runner
        if runner.step_into?(self)
          @not_if, @only_if = [], []
          fx_step_into(action)
        end
        done = (@performed_actions ||= {})[action.to_sym] ||= {}
        done[runner.compiling? ? :compile_time : :converge_time] = true
      end
      def performed_action(action) = (@performed_actions ||= {})[action.to_sym]
      def performed_actions = (@performed_actions ||= {}).keys
      def performed_action?(action) = action == :nothing ? performed_actions.empty? : !!performed_action(action)

      # What of the original's commands is stubbed is this method.
      def shell_out_compacted(*args, **options)
        raise ChefSpec::Error::ShellOutNotStubbed.of("resource", self, [*args, *(options.empty? ? [] : [options])])
      end

      private

      # The action of its provider; what that declares is noted in its turn.
      def fx_step_into(action)
        left = retries
        begin
          @updated_by_last_action = false
          provider = provider_for_action(action)
          provider.extend(Provider::FxLoading) if ChefSpec::StubsFor.registry
          provider.run_action
        rescue StandardError => e
          return if ignore_failure
          raise customize_exception(e) if left <= 0
          left -= 1
          retry
        end
      end
    end
    prepend FxSpec

    class Conditional
      module FxSpec
        def evaluate = @command ? ChefSpec::Stubs.ask(:command, @command) : super
      end
      prepend FxSpec
    end
  end

  module Mixin
    # Commands of the original all end in one method, which specs stub.
    module ShellOut
      def shell_out(*args, **options) = fx_spec_command(:shell_out_compacted, args, options)
      def shell_out!(*args, **options) = fx_spec_command(:shell_out_compacted!, args, options)
      def fx_tool(*words, **options) = fx_spec_command(:shell_out_compacted, words, options.except(:fx_reads))
      def fx_tool!(*words, **options) = fx_spec_command(:shell_out_compacted!, words, options.except(:fx_reads))
      def shell_out_compacted(*args, **options)
        raise ChefSpec::Error::ShellOutNotStubbed.of("provider", self, [*args, *(options.empty? ? [] : [options])])
      end
      def shell_out_compacted!(*args, **options)
        (options.empty? ? shell_out_compacted(*args) : shell_out_compacted(*args, **options)).tap(&:error!)
      end
      def fx_spec_command(name, args, options)
        args = args.flatten.compact.map(&:to_s)
        options.empty? ? __send__(name, *args) : __send__(name, *args, **options)
      end
    end
  end

  class Provider
    module FxSpec
      def initialize(*args, &block)
        super
        ChefSpec::StubsFor.apply(self, :provider)
      end
      def shell_out_compacted(*args, **options)
        raise ChefSpec::Error::ShellOutNotStubbed.of("provider", new_resource,
          [*args, *(options.empty? ? [] : [options])])
      end
      # Parts of a resource stand in the one collection of the run.
      def compile_and_converge_action(&block) = instance_eval(&block)
      # Our own providers change nothing; what a cookbook's does, its blocks declare.
      def fx_change(_descriptions, _changes, &block)
        @fx_updates = true
        new_resource.class.fx_builtin? ? nil : block&.call
      end
    end
    prepend FxSpec
  end

  class Provider
    # Around what finds the state of the machine: the resources that are made there have stubs of their own.
    module FxLoading
      def load_current_resource = ChefSpec::StubsFor.loading { super }
      def load_after_resource = ChefSpec::StubsFor.loading { super }
    end
  end

  module DSL
    module DataQuery
      module FxSpec
        def search(type, query = "*:*", *rest, **options, &block)
          return super unless Chef::Config[:solo]
          found = ChefSpec::Stubs.ask(:search, type, query)
          return found unless block
          Array(found).each(&block)
          true
        end
        def data_bag(bag) = Chef::Config[:solo] ? ChefSpec::Stubs.ask(:data_bag, bag) : super
        def data_bag_item(bag, id, secret = nil)
          Chef::Config[:solo] ? ChefSpec::Stubs.ask(:data_bag_item, bag, id) : super
        end
      end
      prepend FxSpec
    end
  end

  module FxStore
    class << self
      # Where a runner keeps what recipes look up.
      attr_writer :fx_spec
      def current = @fx_spec ||= Local.new
    end
  end
end

module ChefSpec
  # Stubs that a spec wants on resources and providers as they are made.
  module StubsFor
    class << self
      attr_accessor :registry, :example
      # Whether what is made now is to hold the state that was found.
      def loading? = !!@loading
      def loading
        outer, @loading = @loading, true
        yield
      ensure
        @loading = outer
      end
      def apply(object, type)
        wanted = registry && registry[type] or return
        resource = object.respond_to?(:new_resource) ? object.new_resource : object
        names = [nil, resource.resource_name.to_s, resource.to_s]
        names.each { |name| wanted[name]&.each { |block| example.instance_exec(object, &block) } }
      end
      def add(type, target, block) = (((self.registry ||= {})[type] ||= {})[target] ||= []) << block
      def forget = self.registry = self.example = nil
    end
  end
end
