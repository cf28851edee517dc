module Forwardable
  def instance_delegate(hash)
    hash.each { |ms, acc| Array(ms.is_a?(Array) ? ms : [ms]).each { |m| def_instance_delegator(acc, m) } }
  end
  alias delegate instance_delegate
  def def_instance_delegators(acc, *ms)
    ms.each { |m| next if %i[__send__ __id__].include?(m.to_sym); def_instance_delegator(acc, m) }
  end
  alias def_delegators def_instance_delegators
  def def_instance_delegator(acc, m, ali = m)
    acc = acc.to_s
    target = is_a?(Module) ? self : singleton_class
    target.class_eval do
      define_method(ali) do |*a, **k, &b|
        o = if acc.start_with?("@@") then self.class.class_variable_get(acc)
            elsif acc.start_with?("@") then instance_variable_get(acc)
            else instance_eval(acc)
            end
        k.empty? ? o.__send__(m, *a, &b) : o.__send__(m, *a, **k, &b)
      end
    end
    ali.to_sym
  end
  alias def_delegator def_instance_delegator
end
module SingleForwardable
  def def_single_delegator(acc, m, ali = m)
    acc = acc.to_s
    define_singleton_method(ali) do |*a, &b|
      (acc.start_with?("@") ? instance_variable_get(acc) : instance_eval(acc)).__send__(m, *a, &b)
    end
  end
  alias def_delegator def_single_delegator
  def def_single_delegators(acc, *ms) = ms.each { |m| def_single_delegator(acc, m) }
  alias def_delegators def_single_delegators
end
