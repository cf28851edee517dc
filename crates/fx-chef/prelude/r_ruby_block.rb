# ruby_block: Ruby at converge time.
class Chef
  class Resource
    class RubyBlock
      allowed_actions :create, :run
      def block(&block)
        block ? @block = block : @block
      end
    end
  end
  class Provider
    class RubyBlock < Chef::Provider
      def load_current_resource = true
      def action_run
        fx_change("execute the ruby block #{new_resource.name}",
          fx_about(:ruby_block, new_resource.name, run: %w{pending done})) do
          new_resource.block.call
          Chef::Log.info("#{new_resource} called")
        end
      end
      alias action_create action_run
    end
  end
end
