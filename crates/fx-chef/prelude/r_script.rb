# script: a text for an interpreter, from a file or its standard input.
class Chef
  class Resource
    class Script
      def initialize(name, run_context = nil)
        super
        @command = nil
        @default_guard_interpreter = :default
      end
      def command(arg = NOT_PASSED)
        unless NOT_PASSED.equal?(arg) || arg.nil?
          raise Chef::Exceptions::Script, "Do not use the command property on a #{resource_name} resource, use the 'code' property instead."
        end
        @command
      end
      def after_created
        super
        instance_variable_set(:@command, nil) if false
      end
    end
  end
  class Provider
    class Script < Execute
      def command = "\"#{new_resource.interpreter}\" #{new_resource.flags}"
      def description = "execute #{command}"
      def action_run
        super
      end
      def run
        r = new_resource
        inter = r.interpreter.to_s
        words = [inter] + (r.flags ? r.flags.to_s.split(" ") : [])
        shell_out!(command, **opts, input: r.code.to_s)
      end
    end
  end
end
