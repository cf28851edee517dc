# The base of all resources: what they share, and the language of custom resources.
class Chef
  class Resource
    autoload :ActionClass, "prelude:chef/action_class.rb"
    autoload :LWRPBase, "prelude:chef/lwrp.rb"
    autoload :Conditional, "prelude:chef/guard.rb"
    autoload :ConditionalActionNotNothing, "prelude:chef/guard.rb"

    include Chef::Mixin::ParamsValidate
    include Chef::Mixin::ShellOut
    include Chef::DSL::Universal
    include Chef::DSL::DeclareResource

    NOTHING = [:nothing].freeze

    class << self
      def fx_generation = (@@fx_generation ||= 0)

      def properties(include_superclass = true)
        return @properties ||= {} unless include_superclass
        if !@fx_all || @fx_seen != @@fx_generation
          @fx_seen = @@fx_generation
          result = {}
          ancestors.reverse_each { |c| result.merge!(c.properties(false)) if c.respond_to?(:properties) }
          @fx_all = result
        end
        @fx_all
      end

      def property(name, type = NOT_PASSED, **options)
        name = name.to_sym
        options = options.transform_keys(&:to_sym)
        options[:instance_variable_name] = :"@#{name}" unless options.key?(:instance_variable_name)
        options[:name] = name
        options[:declared_in] = self
        if NOT_PASSED.equal?(type)
          prop = properties[name] ? properties[name].derive(**options) : property_type(**options)
        elsif type.is_a?(Property) || (type.is_a?(Class) && type <= Property)
          prop = type.derive(**options)
        else
          options[:is] = options[:is] ? ([type] + [options[:is]]).flatten(1) : type
          prop = property_type(**options)
        end
        fx_add(prop)
      end
      alias attribute property

      def fx_add(prop)
        properties(false)[prop.name] = prop
        @@fx_generation = fx_generation + 1
        prop.emit_dsl
        prop.name
      end

      def property_type(**options) = Property.derive(**options)
      def lazy(&block) = Chef::DelayedEvaluator.new(&block)
      def deprecated_property_alias(from, to, message)
        define_method(from) do |value = NOT_PASSED|
          Chef.deprecated(:property, message)
          NOT_PASSED.equal?(value) ? send(to) : send(to, value)
        end
        define_method(:"#{from}=") do |value|
          Chef.deprecated(:property, message)
          send(to, value)
        end
      end

      def state_properties(*names)
        unless names.empty?
          names = names.map(&:to_sym).uniq
          names.each do |n|
            p = properties[n]
            if !p
              property n, instance_variable_name: false, desired_state: true
            elsif !p.desired_state?
              property n, desired_state: true
            end
          end
          properties(false).each { |n, p| property n, desired_state: false if p.desired_state? && !names.include?(n) }
        end
        properties.values.select(&:desired_state?)
      end
      def state_attrs(*names) = state_properties(*names).map(&:name)

      def identity_properties(*names)
        unless names.empty?
          names = names.map(&:to_sym)
          names.each do |n|
            p = properties[n]
            if !p
              property n, instance_variable_name: false, identity: true
            elsif !p.identity?
              property n, identity: true
            end
          end
          properties.each { |n, p| property n, identity: false if p.identity? && !names.include?(n) }
        end
        result = properties.values.select(&:identity?)
        result = name_property ? [properties[name_property]] : [properties[:name]] if result.empty?
        result
      end
      def identity_property(name = nil) = identity_properties(*Array(name)).first
      def identity_attr(name = nil) = identity_property(name)&.name
      def sensitive_properties = properties.values.select(&:sensitive?)
      # Resources that there is one of need no name.
      def fx_default_name
        p = properties[:name]
        p.options.key?(:default) ? p.default : nil
      end
      def name_property = properties.find { |_, p| p.name_property? }&.first

      def resource_name(name = NOT_PASSED)
        @resource_name = name.to_sym unless NOT_PASSED.equal?(name) || name.nil?
        @resource_name = nil unless defined?(@resource_name)
        @resource_name
      end
      def resource_name=(name)
        resource_name(name)
      end
      def dsl_name = resource_name.to_s
      def use_automatic_resource_name = provides(FX.snake(name.split("::").last))

      def unified_mode(flag = nil)
        @unified_mode = Chef::Config[:resource_unified_mode_default] if !defined?(@unified_mode) || @unified_mode.nil?
        @unified_mode = flag unless flag.nil?
        !!@unified_mode
      end

      def allowed_actions(*actions)
        @allowed_actions ||= superclass.respond_to?(:allowed_actions) ? superclass.allowed_actions.dup : [:nothing]
        @allowed_actions |= actions.flatten unless actions.empty?
        @allowed_actions
      end
      def allowed_actions=(value)
        @allowed_actions = value.uniq
      end
      alias actions allowed_actions

      def default_action(name = NOT_PASSED)
        unless NOT_PASSED.equal?(name)
          @default_action = Array(name).map(&:to_sym)
          self.allowed_actions |= @default_action
        end
        return @default_action if defined?(@default_action) && @default_action
        superclass.respond_to?(:default_action) ? superclass.default_action : NOTHING
      end
      def default_action=(name)
        default_action(name)
      end

      def action(action, description: nil, &block)
        action = action.to_sym
        declare_action_class
        action_class.action(action, description: description, &block)
        self.allowed_actions += [action]
        default_action(action) if Array(default_action) == NOTHING
      end

      def action_class(&block)
        @action_class ||= declare_action_class
        @action_class.class_eval(&block) if block
        @action_class
      end

      def declare_action_class
        @action_class ||= begin
          @fx_custom = true
          @@fx_generation = fx_generation + 1
          base = superclass.custom_resource? ? superclass.action_class : ActionClass
          owner = self
          Class.new(base) { self.resource_class = owner }
        end
      end
      def custom_resource? = @fx_custom || (superclass.respond_to?(:custom_resource?) && superclass.custom_resource?) || false
      def is_custom_resource! = @fx_custom = true

      def load_current_value(&block) = define_method(:load_current_value!, &block)

      def provides(name, **options, &block)
        name = name.to_sym
        @resource_name = name if resource_name.nil?
        options[:chef_version] = chef_version_for_provides if chef_version_for_provides && !options.include?(:chef_version)
        Chef.resource_handler_map.set(name, self, **options, &block)
        Chef::DSL::Resources.add_resource_dsl(name)
        self
      end
      def provides?(node, name) = Chef.resource_handler_map.list(node, name.to_sym).include?(self)
      def chef_version_for_provides(constraint = NOT_PASSED)
        @chef_version_for_provides = constraint unless NOT_PASSED.equal?(constraint)
        @chef_version_for_provides ||= nil
      end
      def preview_resource(value = nil)
        @preview_resource = value unless value.nil?
        @preview_resource || false
      end
      def description(value = nil) = value ? @description = value : @description
      def introduced(value = nil) = value ? @introduced = value : @introduced
      def examples(value = nil) = value ? @examples = value : @examples
      def deprecated(value = nil) = value ? @deprecated = value : @deprecated
      def skip_docs(value = nil) = @skip_docs = value
      def target_mode(*) = nil
      def allowed_via_target_mode(*) = nil
      def resource_matching_short_name(short) = Chef::Resource.resource_for_node(short, Chef.node)
      def resource_for_node(name, node)
        Chef.resource_handler_map.resolve!(node, name.to_sym)
      end
      def provides_names = Chef.resource_handler_map.names_of(self)

      def use(partial)
        beside = FX.here.sub(/:\d+(:in .*)?\z/, "")
        beside = "#{Chef::CHEF_ROOT}/chef/resource/core.rb" if partial.to_s.start_with?("core::")
        partial = partial.to_s.delete_prefix("core::")
        path = ::File.expand_path("#{::File.dirname(partial)}/_#{::File.basename(partial, ".rb").delete_prefix("_")}.rb", ::File.dirname(beside))
        ::File.open(path).close unless FX.file?(path)
        FX.eval_file(path, self, true)
      end

      def inherited(child)
        super
        (@@fx_descendants ||= []) << child
      end
      def descendants = (@@fx_descendants ||= []).select { |c| c < self }
      alias resource_classes descendants

      def const_missing(name)
        fx_builtin(name) || super
      end

      # Builds a built-in class from the table of properties, with its provider's file.
      def fx_builtin(name)
        return nil unless equal?(Chef::Resource) || self.name&.start_with?("Chef::Resource")
        prefix = self.name.delete_prefix("Chef::Resource").delete_prefix("::")
        full = prefix.empty? ? name.to_s : "#{prefix}::#{name}"
        schema = FX.schema(full)
        return nil unless schema
        parent, rname, actions, default, props = schema
        base = parent.empty? ? Chef::Resource : parent.split("::").inject(Chef::Resource) { |m, c| m.const_get(c, false) }
        base = Chef::Resource if base.nil?
        klass = Class.new(base)
        const_set(name, klass)
        klass.fx_setup(rname, actions, default, props)
        FX.load("chef/r_#{FX.snake(full.gsub("::", "_"))}.rb")
        klass
      end

      def fx_setup(rname, actions, default, props)
        @resource_name = rname.to_sym unless rname.empty?
        @allowed_actions = [:nothing] | actions
        @default_action = default unless default == NOTHING
        props.each do |name, options|
          options[:instance_variable_name] = :"@#{name}"
          options[:name] = name
          options[:declared_in] = self
          options.delete(:coerce)
          options[:instance_variable_name] = false if options.size == 4 && options[:desired_state] == true
          lazy = options[:default].equal?(:"<lazy>") || options[:default] == "<lazy>"
          options.delete(:default) if lazy
          fx_add(Property.new(**options))
        end
        @fx_builtin = true
        @unified_mode = true
      end
      def fx_builtin? = @fx_builtin || false
    end
    @@fx_generation = 0

    def initialize(name, run_context = nil)
      name(name) unless name.nil?
      @run_context = run_context
      @params = {}
      @action = self.class.default_action
      @updated = false
      @updated_by_last_action = false
      @not_if = []
      @only_if = []
      @default_guard_interpreter = :default
      @executed_by_runner = false
      @elapsed_time = 0
    end

    attr_accessor :params, :run_context, :cookbook_name, :recipe_name, :enclosing_provider, :source_line, :declared_type, :executed_by_runner, :is_guard_interpreter
    attr_reader :default_guard_interpreter, :elapsed_time, :updated, :resource_initializing
    attr_writer :allowed_actions
    def resource_initializing=(value)
      value ? @resource_initializing = true : remove_instance_variable(:@resource_initializing)
    end

    def name(value = NOT_PASSED)
      return @name if NOT_PASSED.equal?(value)
      value = instance_eval(&value) if value.is_a?(Chef::DelayedEvaluator)
      @name = value.is_a?(Array) ? value.join(", ") : value.to_s
    end
    def name=(value)
      name(value)
    end

    def node = @run_context && @run_context.node
    def logger = Chef::Log.with_child
    def events = @run_context.events
    def resource_name = @resource_name || self.class.resource_name
    def to_s = "#{resource_name}[#{@name}]"
    def inspect
      ivars = instance_variables.map(&:to_sym) - HIDDEN - [:@name]
      ivars.inject("<#{self}") { |s, iv| s + " #{iv}: #{instance_variable_get(iv).inspect}" } + ">"
    end
    HIDDEN = %i{@run_context @logger @not_if @only_if @enclosing_provider @executed_by_runner @is_guard_interpreter @fx_words}.freeze
    def allowed_actions(value = NOT_PASSED)
      @allowed_actions = value unless NOT_PASSED.equal?(value)
      @allowed_actions || self.class.allowed_actions
    end
    def updated? = @updated
    def updated=(v)
      @updated = v
    end
    def updated_by_last_action(flag)
      @updated ||= flag
      @updated_by_last_action = flag
    end
    def updated_by_last_action? = @updated_by_last_action
    def updated_by_last_action!(flag = true) = updated_by_last_action(flag)
    def after_created = nil
    def declared_key = @declared_type.nil? ? to_s : "#{@declared_type}[#{@name}]"
    def source_line_file = @source_line && @source_line[/\A(.*?):\d+/, 1]
    def source_line_number = @source_line && @source_line[/\A.*?:(\d+)/, 1]
    def defined_at
      if cookbook_name && recipe_name && source_line
        "#{cookbook_name}::#{recipe_name} line #{source_line_number}"
      elsif source_line
        "#{source_line_file} line #{source_line_number}"
      else
        "dynamically defined"
      end
    end
    def cookbook_version = cookbook_name && run_context.cookbook_collection[cookbook_name]
    def is(*args) = args.size == 1 ? args.first : args
    def is_custom_resource? = self.class.custom_resource?
    def guard_interpreter(arg = nil) = arg.nil? ? (@guard_interpreter || @default_guard_interpreter) : @guard_interpreter = arg

    def action(arg = nil)
      return @action unless arg
      @action = check_actions(arg)
    end
    def action=(arg)
      action(arg)
    end
    def check_actions(arg)
      allowed = allowed_actions
      Array(arg).map do |a|
        a = a.to_sym
        Mixin::ParamsValidate.run_check(self, :action, a, :equal_to, allowed) unless allowed.include?(a)
        a
      end
    end

    def delayed_action(arg)
      check_actions(arg).map { |a| run_context.add_delayed_action(Notification.new(self, a, self, run_context.unified_mode)) }
    end

    def notifies(action, spec, timing = :delayed)
      run_context.resource_collection.validate_lookup_spec!(spec)
      [spec].flatten.each do |target|
        case timing.to_s
        when "delayed" then notifies_delayed(action, target)
        when "immediate", "immediately" then notifies_immediately(action, target)
        when "before" then notifies_before(action, target)
        else
          raise ArgumentError, "invalid timing: #{timing} for notifies(#{action}, #{[spec].flatten.inspect}, #{timing}) resource #{self} Valid timings are: :delayed, :immediate, :immediately, :before"
        end
      end
      true
    end
    def notifies_before(action, spec) = run_context.notifies_before(Notification.new(spec, action, self, run_context.unified_mode))
    def notifies_immediately(action, spec) = run_context.notifies_immediately(Notification.new(spec, action, self, run_context.unified_mode))
    def notifies_delayed(action, spec) = run_context.notifies_delayed(Notification.new(spec, action, self, run_context.unified_mode))

    def subscribes(action, resources, timing = :delayed)
      [resources].flatten.each do |r|
        run_context.resource_collection.validate_lookup_spec!(r)
        r = UnresolvedSubscribes.new(r, run_context) if r.is_a?(String)
        r.run_context = run_context if r.run_context.nil?
        Notification.subscribing { r.notifies(action, self, timing) }
      end
      true
    end

    def before_notifications = run_context.before_notifications(self)
    def immediate_notifications = run_context.immediate_notifications(self)
    def delayed_notifications = run_context.delayed_notifications(self)
    def resolve_notification_references(always_raise = false)
      rc = @run_context
      return unless rc.any_notifications?
      c = rc.resource_collection
      key = declared_key
      rc.before_notifications(key).each { |n| n.resolve_resource_reference(c, true) }
      rc.immediate_notifications(key).each { |n| n.resolve_resource_reference(c, always_raise) }
      rc.delayed_notifications(key).each { |n| n.resolve_resource_reference(c, always_raise) }
    end

    def only_if(command = nil, opts = {}, &block)
      @only_if << Conditional.only_if(self, command, opts, &block) if command || block
      @only_if
    end
    def not_if(command = nil, opts = {}, &block)
      @not_if << Conditional.not_if(self, command, opts, &block) if command || block
      @not_if
    end

    def property_is_set?(name)
      p = self.class.properties[name.to_sym]
      return true if p.nil? && name.to_sym == :name
      raise ArgumentError, "Property #{name} is not defined in class #{self}" unless p
      p.is_set?(self)
    end
    def reset_property(name)
      p = self.class.properties[name.to_sym]
      raise ArgumentError, "Property #{name} is not defined in class #{self}" unless p
      p.reset(self)
    end
    def copy_properties_from(other, *includes, exclude: [:name])
      includes = other.class.properties.keys if includes.empty?
      (includes - exclude).each { |p| send(p, other.send(p)) if other.property_is_set?(p) }
      self
    end
    def state_for_resource_reporter
      self.class.state_properties.each_with_object({}) do |p, h|
        h[p.name] = p.sensitive? ? "*sensitive value suppressed*" : send(p.name) if p.is_set?(self)
      end
    end
    def identity
      props = self.class.identity_properties
      return send(props[0].name) if props.size == 1
      props.to_h { |p| [p.name, send(p.name)] }
    end
    def to_h
      h = self.class.state_properties.to_h { |p| [p.name, p.get(self)] }
      (instance_variables - HIDDEN).each { |iv| k = iv.name.delete_prefix("@").to_sym; h[k] = instance_variable_get(iv) unless h.key?(k) }
      h
    end
    alias to_hash to_h
    def as_json(*) = { "json_class" => self.class.name, "instance_vars" => (instance_variables - HIDDEN).to_h { |iv| [iv.name.delete_prefix("@"), instance_variable_get(iv)] } }
    def to_json(*a) = as_json.to_json(*a)
    def to_text
      return "suppressed sensitive resource output" if fx_secret?
      text = +"# Declared in #{@source_line}\n\n#{resource_name}(\"#{name}\") do\n"
      hidden = HIDDEN + %i{@name @source_line @resource_name @allowed_actions @elapsed_time}
      (instance_variables - hidden).each do |iv|
        v = instance_variable_get(iv)
        next if v.nil? || v == false || (v.respond_to?(:empty?) && v.empty?)
        p = self.class.properties[iv.name.delete_prefix("@").to_sym]
        text << "  #{iv.name.delete_prefix("@")} #{p && p.sensitive? ? '"*sensitive value suppressed*"' : v.inspect}\n"
      end
      (@not_if + @only_if).each { |c| text << "  #{c.to_text}\n" }
      text << "end\n"
    end

    def provider(arg = nil)
      return @provider if arg.nil?
      arg = lookup_provider_constant(arg) if arg.is_a?(String) || arg.is_a?(Symbol)
      Mixin::ParamsValidate.run_check(self, :provider, arg, :kind_of, [Class])
      @provider = arg
    end
    def provider=(arg)
      provider(arg)
    end
    def lookup_provider_constant(name)
      Chef::Provider.const_get(FX.camel(name.to_s))
    rescue NameError
      Chef::ProviderResolver.by_name(name.to_s) or raise
    end

    def current_value_does_not_exist! = raise(Chef::Exceptions::CurrentValueDoesNotExist)
    def current_value
      p = provider_for_action(Array(action).first)
      p.load_current_resource
      p.current_resource
    end

    def provider_for_action(action)
      klass = @provider || self.class.fx_action_provider || Chef::ProviderResolver.resolve(node, self, action)
      p = klass.new(self, @run_context)
      p.action = action
      p
    end
    def self.fx_action_provider
      return @action_class if @action_class
      if @fx_provider_seen != @@fx_generation
        @fx_provider_seen = @@fx_generation
        @fx_provider = superclass.respond_to?(:fx_action_provider) ? superclass.fx_action_provider : nil
      end
      @fx_provider
    end

    def run_action(action, notification_type = nil, notifying_resource = nil)
      FX.action_open(self, action, notification_type, notifying_resource)
      opened = true
      ev = @run_context.events
      ev.resource_action_start(self, action, notification_type, notifying_resource) if ev.heard?
      resolve_notification_references
      Chef::Log.info("Processing #{self} action #{action} (#{defined_at})") if Chef::Log.info? && Chef::Config[:verbose_logging] != false
      @updated_by_last_action = false
      left = retries
      outer = Chef::Log.secret
      secret = fx_secret?
      shown = FX.secret(secret)
      Chef::Log.secret = self if secret
      begin
        return if fx_skip?(action)
        u = umask
        if u
          FX.with_umask(u.is_a?(String) ? u.oct : u) { provider_for_action(action).run_action }
        else
          provider_for_action(action).run_action
        end
      rescue StandardError => e
        e = Chef::FxSecrets.hide(self, e) if fx_secret?
        if FX.action_unsure?
          # What it needs may come from what a plan withholds: it would act, how is unknown.
          updated_by_last_action(true)
          FX.action_updated
        elsif ignore_failure
          quiet = ignore_failure.to_s == "quiet"
          Chef::Log.error("#{custom_exception_message(e)}; ignore_failure is set, continuing") unless quiet
          fx_tell_failure(e, action, quiet)
          ev.resource_failed(self, action, e) if ev.heard?
        elsif left > 0
          ev.resource_failed_retriable(self, action, left, e) if ev.heard?
          left -= 1
          Chef::Log.info("Retrying execution of #{self}, #{left} attempt#{"s" if left > 1} left")
          sleep retry_delay
          retry
        else
          fx_tell_failure(e, action, false)
          ev.resource_failed(self, action, e) if ev.heard?
          raise customize_exception(e)
        end
      end
    ensure
      Chef::Log.secret = outer
      FX.secret(shown)
      FX.action_close if opened
      ev.resource_completed(self) if ev && ev.heard?
    end

    # Whether nothing of what it holds is shown: parts of a sensitive resource are as it is.
    def fx_secret? = sensitive || (@enclosing_provider ? @enclosing_provider.new_resource.fx_secret? : false)

    def fx_tell_failure(e, action, quiet)
      return FX.action_failed(e) if quiet || !FX.doc?
      FX.action_failed(e, "Error executing action `#{action}` on resource '#{self}'", Chef::FxFailures.resource(self, e))
    end
    def suppress_up_to_date_messages? = false

    # Plain resources carry no guards at all, so this is the short way out.
    def fx_skip?(action)
      if action == :nothing
        FX.action_skipped(nil, "not_if { action == :nothing }", "action :nothing")
        @run_context.events.resource_skipped(self, action, ConditionalActionNotNothing.new(action)) if @run_context.events.heard?
        return true
      end
      return false if @only_if.empty? && @not_if.empty?
      passed = []
      failed = (@only_if + @not_if).find do |guard|
        holds = guard.continue?
        passed << guard if holds
        !holds
      end
      return false unless failed
      Chef::Log.debug("Skipping #{self} due to #{failed.description}")
      FX.action_skipped(failed.positivity.name, failed.to_text, ([failed.fx_told] + passed.map(&:fx_told)).join("; "))
      @run_context.events.resource_skipped(self, action, failed) if @run_context.events.heard?
      true
    end
    def should_skip?(action) = fx_skip?(action)

    def custom_exception_message(e) = "#{self} (#{defined_at}) had an error: #{e.class.name}: #{e.message}"
    def customize_exception(e)
      return e unless e.class.fx_plain_exception?
      ne = e.exception(custom_exception_message(e))
      ne.set_backtrace(e.backtrace) if e.backtrace
      ne
    rescue ArgumentError, NoMethodError
      e
    end

    def lookup(key) = run_context.resource_collection.lookup(key)
    def resources(*args) = run_context.resource_collection.find(*args)
    def validate_resource_spec!(spec) = run_context.resource_collection.validate_lookup_spec!(spec)
    def load_from(resource)
      resource.instance_variables.each do |iv|
        instance_variable_set(iv, resource.instance_variable_get(iv)) unless %i{@source_line @action @not_if @only_if}.include?(iv)
      end
    end
    def ignore_failure_quiet? = ignore_failure.to_s == "quiet"
    def with_run_context(rc)
      old = @run_context
      @run_context = rc == :root ? old.root_run_context : rc == :parent ? old.parent_run_context : rc
      yield @run_context
    ensure
      @run_context = old
    end

    def method_missing(name, *args, **kw, &block)
      ep = enclosing_provider
      if ep && (ep.respond_to?(name) || Chef::DSL::Resources.known?(name))
        return ep.send(name, *args, **kw, &block)
      end
      Chef::DSL::Recipe.fx_helpers!
      return send(name, *args, **kw, &block) if self.class.method_defined?(name)
      raise NoMethodError.new("undefined method `#{name}' for #{self.class}", name)
    end
    def respond_to_missing?(name, priv = false) = false

    property :name, String, coerce: proc { |v| v.is_a?(Array) ? v.join(", ") : v.to_s }, desired_state: false, required: true
    property :retries, Integer, default: 0, desired_state: false
    property :retry_delay, Integer, default: 2, desired_state: false
    property :sensitive, [TrueClass, FalseClass], default: false, desired_state: false
    property :compile_time, [TrueClass, FalseClass], default: false, desired_state: false
    property :umask, [String, Integer], desired_state: false
    property :ignore_failure, [true, false, :quiet, "quiet"], default: false, desired_state: false

    class UnresolvedSubscribes < self
      def to_s = name
      def declared_key = name
    end

    # One notification from a resource to another.
    class Notification
      attr_accessor :resource, :action, :notifying_resource, :unified_mode
      attr_reader :subscribed
      def initialize(resource, action, notifying_resource, unified_mode = false)
        @resource, @action, @notifying_resource, @unified_mode = resource, action && action.to_sym, notifying_resource, unified_mode
        @subscribed = true if Notification.subscribing?
      end
      # Notifications made inside the block were asked for by their target.
      def self.subscribing
        @subscribing = true
        yield
      ensure
        @subscribing = false
      end
      def self.subscribing? = @subscribing || false
      def duplicates?(other) = other.resource == @resource && other.action == @action
      def ==(other) = other.is_a?(Notification) && other.resource == resource && other.action == action && other.notifying_resource == notifying_resource
      def resolve_resource_reference(collection, always_raise = false)
        fix_target(collection, always_raise) unless @resource.is_a?(Chef::Resource)
        @notifying_resource = collection.find(@notifying_resource) unless @notifying_resource.is_a?(Chef::Resource)
      end
      def fix_target(collection, always_raise)
        found = collection.find(@resource)
        if Array(found).size > 1
          raise Chef::Exceptions::InvalidResourceReference, "Notification #{self} from #{notifying_resource} was created with a reference to multiple resources, but can only notify one resource. Notifying resource was defined on #{notifying_resource.source_line}"
        end
        @resource = found
      rescue Chef::Exceptions::ResourceNotFound
        if !unified_mode || always_raise
          raise Chef::Exceptions::ResourceNotFound, "resource #{notifying_resource} is configured to notify resource #{resource} with action #{action}, but #{resource} cannot be found in the resource collection. #{notifying_resource} is defined in #{notifying_resource.source_line}\n"
        end
      rescue Chef::Exceptions::InvalidResourceSpecification
        raise Chef::Exceptions::InvalidResourceSpecification, "Resource #{notifying_resource} is configured to notify resource #{resource} with action #{action}, but #{resource.inspect} is not valid syntax to look up a resource in the resource collection. Notification is defined near #{notifying_resource.source_line}\n"
      end
    end
  end
end
class Exception
  # Whether a message can be put before the old one without knowing the class's own arguments.
  def self.fx_plain_exception? = true
end
