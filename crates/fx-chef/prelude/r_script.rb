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
          raise Chef::Exceptions::Script,
            "Do not use the command property on a #{resource_name} resource, use the 'code' property instead."
        end
        @command
      end
    end
  end
  class Provider
    class Script < Execute
      def command = "\"#{new_resource.interpreter}\" #{new_resource.flags}"
      def description = "execute #{command}"
      # All scripts of an interpreter have the same line.
      def fx_ran = fx_about(:command, new_resource.name, run: %w{pending done})
      def run = shell_out!(command, **opts, input: new_resource.code.to_s)
    end
  end
end
