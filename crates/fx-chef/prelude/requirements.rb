# What an action needs before it is taken, and what why-run assumes instead.
class Chef
  module Mixin
    module WhyRun
      class ConvergeActions; end
      class ResourceRequirements
        class Assertion
          class AssertionFailure < RuntimeError; end
          def initialize = (@exception, @message = AssertionFailure, nil)
          def assertion(&block) = @block = block
          def failure_message(*args) = args.size == 2 ? (@exception, @message = args) : @message = args[0]
          def whyrun(message, &block) = (@whyrun, @modifier = message, block)
          def block_action! = @blocks = true
          def block_action? = @blocks
          def assertion_failed? = @failed
          def run(_action, _events, _resource)
            return if @block && @block.call
            @failed = true
            if @whyrun && !FX.converging?
              FX.requirement(@message) if @message
              FX.requirement(@whyrun)
              @modifier&.call
            elsif @message
              FX.requirement(@message)
              raise @exception, @message
            end
          end
        end
        attr_accessor :action
        def initialize(resource, run_context, action)
          @resource, @run_context, @action = resource, run_context, action
          @assertions, @blocked = Hash.new { |h, k| h[k] = [] }, []
        end
        def action_blocked?(action) = @blocked.include?(action)
        def assert(*actions)
          return unless actions.include?(Array(action).first.to_sym) || actions.include?(:all_actions)
          a = Assertion.new
          yield a
          actions.each { |x| @assertions[x] << a }
        end
        def run(action)
          @assertions[action.to_sym].each do |a|
            a.run(action, nil, @resource)
            if a.assertion_failed? && a.block_action?
              @blocked << action
              break
            end
          end
        end
      end
    end
  end
end
