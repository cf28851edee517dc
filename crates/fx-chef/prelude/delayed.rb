# A value computed when it is read.
class Chef
  class DelayedEvaluator < Proc
    def inspect
      "lazy { (evaluates to) #{call.inspect} }"
    rescue StandardError
      "lazy { ... }"
    end
    alias to_s inspect
    def dup = self
  end
end
