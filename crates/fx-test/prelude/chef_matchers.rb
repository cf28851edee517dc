# Matchers about a run: resources that acted, files that would be written, notifications, recipes.
module ChefSpec
  # Names of matchers and of resources: `install_package` is the action of a resource.
  module Words
    def self.resource?(name) = ::Chef::DSL::Resources.known?(name)
    # The resource and the action of a matcher's name; nil where it names none.
    def self.split(name)
      text = name.to_s
      return [text[7..-12].to_sym, :create_if_missing] if
        text.match?(/\Acreate_.+_if_missing\z/) && acts?(text[7..-12], :create_if_missing)
      at = -1
      while (at = text.index("_", at + 1))
        resource, action = text[(at + 1)..], text[0...at]
        return [resource.to_sym, action.to_sym] if acts?(resource, action.to_sym)
      end
      nil
    end
    def self.acts?(resource, action)
      return false if resource.empty? || !resource?(resource.to_sym)
      ours = (FX.provides(resource) || []).map do |path, _|
        path.split("::").inject(::Chef::Resource) { |home, name| home.const_get(name, false) }
      end
      (ours + ::Chef.resource_handler_map.list(nil, resource)).any? { |one| one.allowed_actions.include?(action) }
    end
  end

  module Matchers
    class ResourceMatcher
      def initialize(name, action, identity)
        @name, @action, @identity, @wanted = name, action, identity, {}
      end
      def with(parameters = {}) = tap { @wanted.merge!(parameters) }
      def at_compile_time
        raise ArgumentError, "Cannot specify both .at_converge_time and .at_compile_time!" if @phase == :converge_time
        tap { @phase = :compile_time }
      end
      def at_converge_time
        raise ArgumentError, "Cannot specify both .at_compile_time and .at_converge_time!" if @phase == :compile_time
        tap { @phase = :converge_time }
      end
      def method_missing(name, *args, &block)
        name.start_with?("with_") ? with(name.to_s.delete_prefix("with_").to_sym => args.first) : super
      end
      def respond_to_missing?(name, priv = false) = name.start_with?("with_") || super
      def description = %(#{@action} #{@name} "#{@identity}")

      def matches?(runner)
        @runner = runner
        return false unless resource
        Coverage.cover!(resource)
        unmatched.empty? && (@phase.nil? || !!resource.performed_action(@action)[@phase])
      end
      def failure_message
        return missing unless resource
        if unmatched.empty?
          return %(expected "#{resource}" to be run at #{@phase == :compile_time ? "compile" : "converge"} time)
        end
        lines = unmatched.map do |name, (expected, actual)|
          "#{name} #{expected.inspect}, was #{actual.inspect}#{difference(expected, actual)}"
        end
        %(expected "#{resource}" to have parameters:\n\n  #{lines.join("\n  ")})
      end
      def failure_message_when_negated
        text = resource ? %(expected "#{resource}" actions #{resource.performed_actions.inspect} to not exist) :
          %(expected "#{resource}" to not exist)
        @phase ? "#{text} at #{@phase == :compile_time ? "compile" : "converge"} time" : text
      end

      private

      def resource = @resource ||= @runner.find_resource(@name, @identity, @action)
      def missing
        others = @runner.find_resources(@name).map(&:to_s).join("\n  ")
        %(expected "#{@name}[#{@identity}]" with action :#{@action} to be in Chef run. Other #{@name} resources:\n\n) +
          "  #{others}\n "
      end
      def unmatched
        @unmatched ||= @wanted.each_with_object({}) do |(name, expected), all|
          actual = value(name)
          all[name] = [expected, actual] unless fits?(name, expected, actual)
        end
      end
      def fits?(name, expected, actual)
        return Array(expected) == Array(actual) if name == :source
        expected.is_a?(Class) ? expected == actual : expected === actual
      end
      def value(name)
        resource.send(name)
      rescue NoMethodError
        nil
      end
      def difference(expected, actual)
        return "" if RSpec::Matchers.matcher?(expected)
        RSpec::Expectations.with_diff("", expected, actual)
      end
    end

    # What the matchers about notifications share: when it is sent.
    class NotificationsMatcher
      def initialize(signature)
        @type, @name = signature.to_s.match(/^([^\[]*)\[(.*)\]$/)&.captures
      end
      def to(action) = tap { @action = action.to_sym }
      def immediately = tap { @time = :immediately }
      def delayed = tap { @time = :delayed }
      def before = tap { @time = :before }

      def matches?(resource)
        @resource = resource
        return false unless resource
        sent = { immediately: resource.immediate_notifications, delayed: resource.delayed_notifications,
                 before: resource.before_notifications }
        (@time ? sent[@time] : sent.values.flatten).any? { |one| meant?(one) }
      end
      def description = "notify #{signature}"
      def failure_message
        unless @resource
          return "expected _something_ to notify #{signature}, but the _something_ you gave me was nil! If you are " \
            "running a test like:\n\n  expect(_something_).to notify('...')\n\nMake sure that `_something_` exists, " \
            "because I got nil\n "
        end
        %(expected "#{@resource}" to notify #{signature}, but did not.\n\nOther notifications were:\n\n#{others}\n )
      end
      def failure_message_when_negated
        @resource && %(expected "#{@resource}" to not notify "#{@type}[#{@name}]", but it did.)
      end

      private

      def signature
        %("#{@type}[#{@name}]"#{" with action :#{@action}" if @action}#{" #{@time}" if @time})
      end
      def meant?(one)
        target = one.resource
        return false unless Normalize.name(target).to_s == @type
        (@name === target.identity.to_s || @name === target.name.to_s) && (@action.nil? || @action == one.action.to_sym)
      end
      def others
        { immediately: @resource.immediate_notifications, delayed: @resource.delayed_notifications,
          before: @resource.before_notifications }.flat_map do |time, list|
          list.map do |one|
            target = one.resource
            %(    "#{one.notifying_resource}" notifies "#{Normalize.name(target)}[#{target.name}]" to ) +
              ":#{one.action}, :#{time}"
          end
        end.join("\n")
      end
    end

    # The other end of the same.
    class SubscribesMatcher
      def initialize(signature)
        @type, @name = signature.to_s.match(/^([^\[]*)\[(.*)\]$/)&.captures
        @said = []
      end
      def on(action) = tap { @said << [:to, action] }
      %i[immediately delayed before].each { |time| define_method(time) { tap { @said << [time] } } }
      def matches?(resource)
        @notifies = NotificationsMatcher.new(resource.to_s)
        @said.each { |word, *args| @notifies.public_send(word, *args) }
        @notifies.matches?(resource && resource.run_context.node.runner.find_resource(@type, @name))
      end
      def description = @notifies.description
      def failure_message = @notifies.failure_message
      def failure_message_when_negated = @notifies.failure_message_when_negated
    end

    class RenderFileMatcher
      attr_reader :expected_content
      def initialize(path) = (@path, @expected_content = path, [])
      def with_content(content = nil, &block)
        raise ArgumentError, "Cannot specify expected content and a block!" if content && block
        raise ArgumentError, "Must specify expected content or a block!" unless content || block
        tap { @expected_content << (content || block) }
      end
      def matches?(runner)
        @runner = runner
        return false unless resource
        Coverage.cover!(resource)
        %i[create create_if_missing].any? { |one| resource.performed_action?(one) } && content_fits?
      end
      def description
        @expected_content.reduce(%(render file "#{@path}")) do |text, one|
          "#{text} with content #{one.to_s.include?("\n") ? "<suppressed>" : one.inspect}"
        end
      end
      def failure_message
        text = %(expected Chef run to render "#{@path}")
        return text if @expected_content.empty?
        "#{text} matching:\n\n#{wanted}\n\nbut got:\n\n#{@content}\n "
      end
      def failure_message_when_negated
        text = %(expected file "#{@path}")
        text += " matching:\n\n#{wanted}\n\n" unless @expected_content.empty?
        "#{text} to not be in Chef run"
      end

      private

      def resource
        @resource ||= %i[cookbook_file file template].lazy.filter_map { |one| @runner.find_resource(one, @path) }.first
      end
      def content_fits?
        return true if @expected_content.empty?
        @content = Renderer.new(@runner, resource).content
        return false if @content.nil?
        @expected_content.delete_if do |one|
          case one
          when Regexp then @content =~ one
          when Proc
            one.call(@content)
            true
          else RSpec::Matchers.matcher?(one) ? one.matches?(@content) : @content.include?(one)
          end
        end
        @expected_content.empty?
      end
      def wanted
        @expected_content.map do |one|
          next "(the result of a proc)" if one.is_a?(Proc)
          RSpec::Matchers.matcher?(one) && one.respond_to?(:description) ? one.description : one.to_s
        end.join("\n\n")
      end
    end

    class IncludeRecipeMatcher
      def initialize(name) = @name = IncludeRecipeMatcher.whole(name)
      def self.whole(name) = name.include?("::") ? name : "#{name}::default"
      def matches?(runner)
        @loaded = runner.run_context.loaded_recipes.map { |one| IncludeRecipeMatcher.whole(one) }
        @loaded.include?(@name)
      end
      def description = %(include recipe "#{@name}")
      def failure_message = %(expected #{@loaded.inspect} to include "#{@name}")
      def failure_message_when_negated = %(expected "#{@name}" to not be included)
    end

    class IncludeAnyRecipeMatcher
      def matches?(runner)
        asked = runner.run_context.node.run_list.run_list_items.map { |one| IncludeRecipeMatcher.whole(one.name) }
        !(runner.run_context.loaded_recipes.map { |one| IncludeRecipeMatcher.whole(one) } - asked).empty?
      end
      def description = "include any recipe"
      def failure_message = "expected to include any recipe"
      def failure_message_when_negated = "expected not to include any recipes"
    end

    class LinkToMatcher
      def initialize(path) = @path = path
      def matches?(link)
        @link = link
        return false unless link
        Coverage.cover!(link)
        link.is_a?(::Chef::Resource::Link) && link.performed_action?(:create) && @path === link.to
      end
      def description = %(link to "#{@path}")
      def failure_message
        return %(expected "link[#{@path}]" with action :create to be in Chef run) if @link.nil?
        %(expected "#{@link}" to link to "#{@path}" but was "#{@link.to}")
      end
      def failure_message_when_negated = %(expected "#{@link}" to not link to "#{@path}")
    end

    class DoNothingMatcher
      def matches?(resource)
        @resource = resource
        return false unless resource
        Coverage.cover!(resource)
        resource.performed_actions.empty? || resource.performed_actions == [:nothing]
      end
      def description = "do nothing"
      def failure_message
        unless @resource
          return "expected _something_ to do nothing, but the _something_ you gave me was nil! If you are running a " \
            "test like:\n\n  expect(_something_).to do_nothing\n\nmake sure that `_something_` exists, because I " \
            "got nil!"
        end
        "expected #{@resource} to do nothing, but the following actions were performed:\n\n" \
          "#{@resource.performed_actions.map { |one| "  :#{one}" }.join}"
      end
      def failure_message_when_negated
        "expected #{@resource || "_something_"} to do something, but no actions were performed."
      end
    end

    class StateAttrsMatcher
      def initialize(names) = @names = names.map(&:to_sym)
      def matches?(resource)
        @resource = resource
        !resource.nil? && @names == found
      end
      def description = "have state attributes #{@names.inspect}"
      def failure_message
        @resource ? "expected #{found.inspect} to equal #{@names.inspect}" : "expected _something_ to have state " \
          "attributes, but the _something_ you gave me was nil!\nEnsure the resource exists before making " \
          "assertions:\n\n  expect(resource).to be\n "
      end
      def failure_message_when_negated
        @resource ? "expected #{found.inspect} to not equal #{@names.inspect}" : failure_message
      end

      private

      def found = @resource.class.state_attrs.map(&:to_sym)
    end
  end

  # What a resource about a file would write.
  class Renderer
    attr_reader :chef_run, :resource
    def initialize(chef_run, resource) = (@chef_run, @resource = chef_run, resource)
    def content
      case Normalize.name(resource)
      when :template then ::Chef::Provider::Template.new(resource, resource.run_context).content_of
      when :file then resource.content
      when :cookbook_file
        book = chef_run.run_context.cookbook_collection[resource.cookbook || resource.cookbook_name]
        File.read(book.preferred_filename_on_disk_location(chef_run.node, :files, resource.source))
      end
    end
  end
end
