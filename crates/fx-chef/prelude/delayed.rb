# A value computed when it is read.
class Chef
  class DelayedEvaluator < Proc
    def inspect
      "lazy { ... }"
    end
    alias to_s inspect
    def dup = self
  end
end
