# whyrun_safe_ruby_block: a ruby_block that also runs in why-run.
class Chef
  class Resource
    RubyBlock
  end
  class Provider
    class WhyrunSafeRubyBlock < RubyBlock
      def action_run
        new_resource.block.call
        new_resource.updated_by_last_action(true)
        FX.applied(["execute the whyrun_safe_ruby_block #{new_resource.name}"])
      end
      alias action_create action_run
    end
  end
end
