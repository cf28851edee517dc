# execute: one command.
class Chef
  class Resource
    class Execute
      def initialize(name, run_context = nil)
        super
        @command = name.is_a?(Array) ? name.join(", ") : name.to_s
        @default_guard_interpreter = :execute
        @is_guard_interpreter = false
      end
      attr_accessor :fx_words
      property :sensitive, [true, false], default: lazy { password ? true : false }
      def live_stream? = live_stream
      def self.set_guard_inherited_attributes(*names)
        @class_inherited_attributes = names
      end
      def self.guard_inherited_attributes
        inherited = superclass.respond_to?(:guard_inherited_attributes) ? superclass.guard_inherited_attributes : []
        inherited + (@class_inherited_attributes || [])
      end
      set_guard_inherited_attributes(:cwd, :domain, :environment, :group, :password, :user, :umask)
      def after_created
        if password && user.nil? && domain.nil?
          if user.nil?
            raise ArgumentError, "A value for `password` was specified without specification of a value for `user`"
          end
        end
        u = user
        d = domain
        instance_variable_set(:@user, u)
        instance_variable_set(:@domain, d)
        FX.declared(to_s, creates, source_line) if property_is_set?(:creates) && !@creates.is_a?(Chef::DelayedEvaluator)
      end
    end
  end
  class Provider
    class Execute < Chef::Provider
      def load_current_resource = nil
      def timeout
        t = new_resource.timeout
        t.is_a?(String) ? t.to_f : t
      end
      def define_resource_requirements = nil
      def action_run
        r = new_resource
        if r.creates
          c = r.creates
          if r.cwd && !c.start_with?("/")
            c = ::File.join(r.cwd, c)
          elsif !c.start_with?("/")
            raise Chef::Exceptions::Execute,
              "Please either specify a full path for the creates property, or specify a cwd property to the #{r} " \
              "resource"
          end
          if ::File.exist?(c)
            Chef::Log.debug("#{r} creates #{c} exists - nothing to do")
            return false
          end
        end
        fx_change(description, fx_ran) do
          run
          Chef::Log.info("#{r} ran successfully")
        end
      end
      def command = new_resource.command
      # What runs is known by its line, and by the name of the resource where that is a secret.
      def fx_ran = fx_about(:command, fx_secret? ? new_resource.name : Array(command).join(" "), run: %w{pending done})
      def description
        return "execute sensitive resource" if new_resource.fx_secret?
        c = command
        "execute #{c}"
      end
      def opts
        r = new_resource
        o = { timeout: timeout, returns: r.returns }
        o[:environment] = r.environment if r.environment
        o[:user] = r.user if r.user
        o[:group] = r.group if r.group
        o[:cwd] = r.cwd if r.cwd
        o[:umask] = r.umask if r.umask
        o[:input] = r.input if r.respond_to?(:input) && r.input
        o[:login] = r.login if r.respond_to?(:login) && r.login
        o[:default_env] = r.default_env
        o[:live_stream] = FxStream.new if (r.live_stream || Chef::Config[:stream_execute_output]) && !r.fx_secret?
        if r.user && o[:environment].nil? && r.login
          o[:environment] = {}
        end
        o
      end
      # What our own resources run is a list of words; what is shown is their line.
      def run = new_resource.fx_words ? fx_tool!(*new_resource.fx_words, **opts) : shell_out!(command, **opts)
    end
  end
end
