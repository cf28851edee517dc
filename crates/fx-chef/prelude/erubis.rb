# Erubis, as far as cookbooks render with it.
module Erubis
  class Context < Hash
    def evaluate(code) = instance_eval(code)
  end
  class Eruby
    def initialize(text) = @text = text
    def src = FX.erubis(@text)
    def evaluate(context = {})
      o = Object.new
      context.each { |k, v| o.instance_variable_set(:"@#{k}", v) }
      o.instance_eval(src)
    end
    def result(binding = TOPLEVEL_BINDING) = binding.is_a?(Hash) ? with_locals(binding) : eval(src, binding)
    def with_locals(hash)
      o = Object.new
      hash.each { |k, v| o.define_singleton_method(k) { v } }
      o.instance_eval(src)
    end
  end
  FastEruby = Eruby
  EscapedEruby = Eruby
end
