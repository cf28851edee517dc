# The base of all resources: what they share. What classes of them say is in resource_class.rb, how an
# action is run in resource_run.rb.
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
    FX.load("chef/resource_class.rb")

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

    attr_accessor :params, :run_context, :cookbook_name, :recipe_name, :enclosing_provider, :source_line,
      :declared_type, :executed_by_runner, :is_guard_interpreter
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
    HIDDEN = %i{@run_context @logger @not_if @only_if @enclosing_provider @executed_by_runner @is_guard_interpreter
      @fx_words}.freeze
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
    def guard_interpreter(arg = nil)
      arg.nil? ? (@guard_interpreter || @default_guard_interpreter) : @guard_interpreter = arg
    end

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
      (instance_variables - HIDDEN).each do |iv|
        k = iv.name.delete_prefix("@").to_sym
        h[k] = instance_variable_get(iv) unless h.key?(k)
      end
      h
    end
    alias to_hash to_h
    def as_json(*)
      {
        "json_class" => self.class.name, "instance_vars" => (instance_variables - HIDDEN).to_h do |iv|
          [iv.name.delete_prefix("@"), instance_variable_get(iv)]
        end
      }
    end
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

    def lookup(key) = run_context.resource_collection.lookup(key)
    def resources(*args) = run_context.resource_collection.find(*args)
    def validate_resource_spec!(spec) = run_context.resource_collection.validate_lookup_spec!(spec)
    def load_from(resource)
      resource.instance_variables.each do |iv|
        unless %i{@source_line @action @not_if @only_if}.include?(iv)
          instance_variable_set(iv, resource.instance_variable_get(iv))
        end
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
      raise NoMethodError.new("undefined method `#{name}' for #{self.class}", name, receiver: self)
    end
    def respond_to_missing?(name, priv = false) = false

    property :name, String, coerce: proc { |v| v.is_a?(Array) ? v.join(", ") : v.to_s }, desired_state: false,
      required: true
    property :retries, Integer, default: 0, desired_state: false
    property :retry_delay, Integer, default: 2, desired_state: false
    property :sensitive, [TrueClass, FalseClass], default: false, desired_state: false
    property :compile_time, [TrueClass, FalseClass], default: false, desired_state: false
    property :umask, [String, Integer], desired_state: false
    property :ignore_failure, [true, false, :quiet, "quiet"], default: false, desired_state: false
  end
end
FX.load("chef/resource_run.rb")
FX.load("chef/notifications.rb")
