# The base of all providers: loading state, converging, sub-collections.
class Chef
  class Provider
    include Chef::DSL::Recipe
    extend Chef::DSL::Universal

    attr_accessor :new_resource, :current_resource, :after_resource, :run_context, :action
    attr_reader :recipe_name, :cookbook_name

    class << self
      def supports?(*) = true
      def action(name, description: nil, &block)
        define_method(:"compile_action_#{name}", &block)
        define_method(:"action_#{name}") { compile_and_converge_action { send(:"compile_action_#{name}") } }
      end
      def use_inline_resources = nil
      def action_descriptions = @action_descriptions ||= {}
      def action_description(*) = nil
      def provides(name, **opts, &block) = Chef.provider_handler_map.set(name.to_sym, self, **opts, &block)
      def provides?(node, resource) = true
      def include_resource_dsl? = false
      def include_resource_dsl(*) = nil
      def use(partial)
        at = FX.here.sub(/:\d+(:in .*)?\z/, "")
        base = ::File.basename(partial, ".rb").sub(/\A_/, "")
        path = ::File.expand_path("#{::File.dirname(partial)}/_#{base}.rb", ::File.dirname(at))
        FX.eval_file(path, self, true)
      end
      def const_missing(name)
        fx_builtin(name) || super
      end
      def fx_builtin(name)
        return nil unless self.name&.start_with?("Chef::Provider")
        prefix = self.name.delete_prefix("Chef::Provider").delete_prefix("::")
        full = prefix.empty? ? name.to_s : "#{prefix}::#{name}"
        full.split("::").inject(Chef::Resource) { |m, n| m.const_get(n, false) } if FX.schema(full)
        FX.load("chef/r_#{FX.snake(full.gsub("::", "_"))}.rb")
        return const_get(name, false) if const_defined?(name, false)
        return nil unless FX.schema(full) || FX.known_provider?(full)
        klass = Class.new(self.equal?(Chef::Provider) ? Chef::Provider : self)
        const_set(name, klass)
        klass
      end
    end

    def initialize(new_resource, run_context)
      @new_resource = new_resource
      @run_context = run_context
      @current_resource = nil
      @after_resource = nil
      @fx_updates = nil
    end

    def logger = Chef::Log.with_child
    def node = @run_context && @run_context.node
    def resource_collection = @run_context && @run_context.resource_collection
    def cookbook_name = @new_resource.cookbook_name
    def recipe_name = @new_resource.recipe_name
    def events = @run_context.events
    def whyrun_mode? = !FX.converging?
    def whyrun_supported? = true
    def property_is_set?(name) = @new_resource.property_is_set?(name)
    def check_resource_semantics! = nil
    def define_resource_requirements = nil
    def cleanup_after_converge = nil
    def load_after_resource = @after_resource = @new_resource
    def action_nothing = true
    def load_current_resource
      raise Chef::Exceptions::Override, "You must override load_current_resource in #{self}"
    end

    def validate_required_properties!
      @new_resource.class.properties.each_value do |p|
        p.required?(action) && p.get(@new_resource) unless p.name == :name
      end
    end

    def run_action(action = nil)
      @action = action unless action.nil?
      check_resource_semantics!
      validate_required_properties! if @new_resource.class.fx_any_required?
      why = whyrun_mode?
      load_current_resource if !why || whyrun_supported?
      define_resource_requirements
      process_resource_requirements if @requirements
      if why && (!whyrun_supported? || (@requirements && @requirements.action_blocked?(@action)))
        FX.action_bypassed(self.class.name)
        events.resource_bypassed(@new_resource, @action, self) if events.heard?
      else
        send(:"action_#{@action}")
      end
      set_updated_status
      cleanup_after_converge
    end

    # A requirement of the action that is not met: shown below the resource's line, then raised.
    def fx_unmet(error, message)
      FX.requirement(message)
      raise error, message
    end

    def process_resource_requirements
      requirements.run(:all_actions) unless @action == :nothing
      requirements.run(@action)
    end
    def requirements
      @requirements ||= Chef::Mixin::WhyRun::ResourceRequirements
        .new(@new_resource, @run_context, action || @new_resource.action)
    end

    def resource_updated? = @fx_updates || @new_resource.updated_by_last_action?
    def set_updated_status
      if resource_updated?
        @new_resource.updated_by_last_action(true)
        FX.action_updated
        events.resource_updated(@new_resource, @action) if events.heard?
      else
        FX.action_kept(@new_resource.suppress_up_to_date_messages?)
        events.resource_up_to_date(@new_resource, @action) if events.heard?
      end
    end

    def converge_by(descriptions, &block) = fx_change(descriptions, fx_known_changes, &block)

    # Whether there is something; that it cannot be seen is no answer. `link` means a link itself.
    def fx_exists?(path, link: false)
      link ? ::File.lstat(path) : ::File.stat(path)
      true
    rescue Errno::ENOENT, Errno::ENOTDIR
      false
    end

    # The one way to an effect: what the formatter shows, what changes, and the block that does
    # it. A change is `[kind, name, property, from, to]`; a true value after that hides both values.
    def fx_change(descriptions, changes, &block)
      @fx_updates = true
      secret = fx_secret?
      descriptions = [descriptions].flatten.compact
      if secret
        descriptions = descriptions.map { |d| FxSecrets.scrub(@new_resource, d.to_s) }
        changes = changes.map do |kind, name, *rest|
          [kind, FxSecrets.scrub(@new_resource, name.to_s) == name.to_s ? name : @new_resource.name, *rest]
        end
      end
      result = FX.change(descriptions, changes, secret, &block)
      events.resource_update_applied(@new_resource, @action, descriptions) if events.heard?
      result
    end

    def fx_secret? = @new_resource.respond_to?(:fx_secret?) && @new_resource.fx_secret?

    # Changes of properties of one thing, each given with its value now and afterwards.
    def fx_about(kind, name, properties)
      properties.map { |property, (from, to)| [kind, name, property, from, to] }
    end

    # What a cookbook's own provider changes, as far as its resource shows it: the properties
    # that differ from the loaded state, else that its action is taken.
    def fx_known_changes
      r = @new_resource
      now = @current_resource
      if now && now.class.equal?(r.class)
        changed = r.class.state_properties.select { |p| fx_differs?(p, r, now) }
        return changed.map { |p| fx_property_change(p) } unless changed.empty?
      end
      [[*fx_target, :converge, nil, @action]]
    end

    # Kind and name of what the resource stands for.
    def fx_target
      r = @new_resource
      identity = r.identity
      [r.declared_type || r.resource_name, identity.is_a?(String) ? identity : r.name]
    end

    # Values that are computed on each read are left alone.
    def fx_differs?(property, new, now)
      iv = property.instance_variable_name
      return false unless iv && new.instance_variable_defined?(iv) && now.instance_variable_defined?(iv)
      a, b = new.instance_variable_get(iv), now.instance_variable_get(iv)
      !a.is_a?(Chef::DelayedEvaluator) && !b.is_a?(Chef::DelayedEvaluator) && a != b
    end

    def fx_property_change(property)
      # What counts as absent may have been found in part.
      now = @current_resource || (@fx_partly if @fx_partly && property.is_set?(@fx_partly))
      from = now && now.send(property.name)
      [*fx_target, property.name, from, @new_resource.send(property.name), property.sensitive?]
    end
    def converge_actions = self
    def add_action(descriptions, &block) = converge_by(descriptions, &block)
    def empty? = !@fx_updates

    def compile_and_converge_action(&block)
      old = @run_context
      @run_context = child = old.create_child
      child.resource_collection.unified_mode = @new_resource.class.unified_mode
      runner = Chef::Runner.new(child)
      value = block.call
      runner.converge
      value
    ensure
      @new_resource.updated_by_last_action(true) if child.resource_collection.any?(&:updated?)
      @run_context = old
    end
    alias recipe_eval_with_update_check compile_and_converge_action

    def recipe_eval(&block)
      converge_by("evaluate block and run any associated actions") do
        saved = @run_context
        begin
          @run_context = saved.create_child
          instance_eval(&block)
          Chef::Runner.new(@run_context).converge
        ensure
          @run_context = saved
        end
      end
    end

    def converge_if_changed(*names, &block)
      raise ArgumentError, "converge_if_changed must be passed a block!" unless block
      all = @new_resource.class.properties
      props = names.empty? ? @new_resource.class.state_properties : names.map { |n| all[n] }
      hide = ->(p) { @new_resource.fx_secret? || p.sensitive? }
      if @current_resource
        given = props.select { |p| p.is_set?(@new_resource) || p.has_default? }
        changed = given.select { |p| @new_resource.send(p.name) != @current_resource.send(p.name) }
        return false if changed.empty?
        width = changed.map { |p| p.name.size }.max
        lines = changed.map do |p|
          shown = hide.call(p) ? "(suppressed sensitive property)" :
            "#{@new_resource.send(p.name).inspect} (was #{@current_resource.send(p.name).inspect})"
          "  set #{p.name.to_s.ljust(width)} to #{shown}"
        end
        fx_change(["update #{@current_resource.identity}"] + lines, changed.map { |p| fx_property_change(p) }, &block)
      else
        width = props.map { |p| p.name.size }.max || 0
        lines = props.map do |p|
          default = p.is_set?(@new_resource) ? "" : " (default value)"
          shown = hide.call(p) ? "(suppressed sensitive property)" : @new_resource.send(p.name).inspect
          "  set #{p.name.to_s.ljust(width)} to #{shown}#{default}"
        end
        changes = props.map { |p| fx_property_change(p) }.reject { |c| c[4].nil? || c[3] == c[4] }
        fx_change(["create #{@new_resource.identity}"] + lines, changes.empty? ? fx_known_changes : changes, &block)
      end
      true
    end

    # Providers whose actions are made of other resources.
    class FxComposite < Provider
      def load_current_resource = nil
      # Runs a block that declares resources, now.
      def fx_text(kind, path, text, **props)
        declare_resource(kind, path) do
          kind == :template ? self.fx_content = text : content(text)
          props.each { |k, v| send(k, v) unless v.nil? }
        end
      end
    end
    autoload :LWRPBase, "prelude:chef/lwrp.rb"
    autoload :InlineResources, "prelude:chef/lwrp.rb"
  end

  class Resource
    def self.fx_any_required?
      if @fx_req_seen != @@fx_generation
        @fx_req_seen = @@fx_generation
        @fx_req = properties.any? { |n, p| n != :name && p.required? }
      end
      @fx_req
    end
  end
end
