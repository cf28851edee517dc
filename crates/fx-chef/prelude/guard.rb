# only_if and not_if: commands through an interpreter, or blocks.
class Chef
  class Resource
    class Conditional
      def self.not_if(resource, command = nil, opts = {}, &block) = new(:not_if, resource, command, opts, &block)
      def self.only_if(resource, command = nil, opts = {}, &block) = new(:only_if, resource, command, opts, &block)
      attr_reader :positivity, :command, :command_opts, :block
      def initialize(positivity, resource, command = nil, opts = {}, &block)
        @positivity, @command, @command_opts, @block, @parent = positivity, command, opts, block, resource
        raise ArgumentError, "only_if/not_if requires either a command or a block" unless command || block
      end

      def continue?
        @result = evaluate
        @positivity == :only_if ? @result : !@result
      end

      # What the guard was and what came of it, for people.
      def fx_told
        what = if @command && @parent.fx_secret? then "[sensitive]"
               elsif @command then "`#{Array(@command).join(" ")}`"
               elsif (at = @block.source_location) then "{ block at #{at[0]}:#{at[1]} }"
               else "{ block }"
               end
        "#{@positivity} #{what} is #{@result ? "true" : "false"}"
      end

      def evaluate
        case @command
        when String, Array
          Chef::GuardInterpreter.for_resource(@parent, @command, @command_opts || {}).evaluate
        when nil
          if @parent.guard_interpreter != @parent.default_guard_interpreter
            raise ArgumentError, "#{@parent.name} was given a guard_interpreter of #{@parent.guard_interpreter}, but " \
              "not given a command as a string. guard_interpreter does not support blocks (because they just contain " \
              "ruby)."
          end
          run_block
        else
          raise ArgumentError, "Invalid only_if/not_if command, expected a string: #{@command.inspect} (" \
            "#{@command.class})"
        end
      rescue Chef::Exceptions::CommandTimeout
        Chef::Log.warn "Command '#{fx_command}' timed out"
        false
      end

      def run_block
        rv = @block.call
        if rv.is_a?(String) && !rv.empty?
          secret = @parent.fx_secret?
          shown = secret ? "a string" : rv.inspect
          Chef::Log.warn("#{@positivity} block for #{@parent} returned #{shown}, did you mean to run a command?" +
            (secret ? "" : " If so use '#{@positivity} #{shown}' in your code."))
        end
        rv
      end

      def short_description = @positivity
      def fx_command = @parent.fx_secret? ? "[sensitive]" : @command
      def description = "#{@positivity} #{@command ? "command `#{fx_command}`" : "ruby block"}"
      def to_text = @command ? "#{positivity} \"#{fx_command}\"" : "#{@positivity} { #code block }"
    end

    class ConditionalActionNotNothing
      attr_reader :current_action
      def initialize(action) = @current_action = action
      def continue? = @current_action != :nothing
      def positivity = :not_if
      def short_description = description
      def description = "action :nothing"
      def to_text = "not_if { action == :nothing }"
    end
  end

  class GuardInterpreter
    def self.for_resource(resource, command, opts)
      # Guards of our own resources only read.
      if resource.guard_interpreter == :default || opts[:fx_reads]
        Default.new(resource, command, opts)
      else
        ByResource.new(resource, command, opts)
      end
    end

    class Default
      include Chef::Mixin::ShellOut
      def initialize(resource, command, opts) = (@resource, @command, @opts = resource, command, opts)
      def evaluate
        shell_out(@command, default_env: false, **@opts).exitstatus == 0
      end
    end

    # Runs the guard with a resource of the named kind that inherits from its parent.
    class ByResource
      def initialize(resource, command, opts)
        @parent, @command, @opts = resource, command, opts
        klass = begin
          Chef.resource_handler_map.get(resource.node, resource.guard_interpreter)
        end
        if klass.nil?
          raise ArgumentError, "Specified guard_interpreter resource #{resource.guard_interpreter} unknown for this " \
            "platform"
        end
        unless klass <= Chef::Resource::Execute
          raise ArgumentError, "Specified guard interpreter class #{klass} must be a kind of Chef::Resource::Execute " \
            "resource"
        end
        @resource = klass.new("Guard resource", resource.run_context)
        @resource.is_guard_interpreter = true
      end
      # A guard is asked for real, whatever becomes of the resource it stands before.
      def evaluate
        if @parent.class.respond_to?(:guard_inherited_attributes)
          @parent.class.guard_inherited_attributes.each do |a|
            next unless @parent.respond_to?(a) && @resource.respond_to?(a)
            v = @parent.send(a)
            @resource.send(a, v) unless v.nil?
          end
        end
        @opts.each { |k, v| @resource.send(k, v) }
        @resource.is_a?(Chef::Resource::Script) ? @resource.code(@command) : @resource.command(@command)
        FX.silently { Array(@resource.action).each { |a| @resource.run_action(a) } }
        @resource.updated
      rescue Mixlib::ShellOut::ShellCommandFailed
        nil
      end
    end
  end
end
