class Delegator < BasicObject
  kernel = ::Kernel.dup
  kernel.class_eval do
    %i[
      to_s =~ !~ === <=> hash inspect dup clone freeze frozen? method methods public_methods
      private_methods protected_methods singleton_methods is_a? kind_of? instance_of? nil? display
      enum_for to_enum tap then itself yield_self
    ].each { |m| undef_method(m) rescue nil }
    kept = %i[
      binding raise lambda proc block_given? require puts print p format sprintf
      respond_to_missing? initialize_dup initialize_clone caller loop catch throw
    ]
    private_instance_methods.each { |m| undef_method(m) rescue nil unless kept.include?(m) }
  end
  include kernel
  def self.const_missing(n) = ::Object.const_get(n)
  def initialize(o) = __setobj__(o)
  def class = (::Kernel.instance_method(:class).bind_call(self))
  def method_missing(m, *a, **k, &b)
    t = __getobj__
    if t.respond_to?(m) then k.empty? ? t.__send__(m, *a, &b) : t.__send__(m, *a, **k, &b)
    elsif ::Kernel.method_defined?(m) || ::Kernel.private_method_defined?(m)
      ::Kernel.instance_method(m).bind_call(self, *a, **k, &b)
    else
      ::Kernel.raise ::NoMethodError.new("undefined method `#{m}' for #{t.inspect}:#{self.class}", m, a, receiver: self)
    end
  end
  def respond_to_missing?(m, priv)
    r = __getobj__.respond_to?(m, priv)
    if r && priv && !__getobj__.respond_to?(m, false) then false else r end
  end
  def is_a?(k) = ::Kernel.instance_method(:is_a?).bind_call(self, k)
  alias kind_of? is_a?
  def instance_of?(k) = ::Kernel.instance_method(:instance_of?).bind_call(self, k)
  def ==(o) = o.equal?(self) || __getobj__ == o
  def !=(o) = o.equal?(self) ? false : __getobj__ != o
  def eql?(o) = o.equal?(self) || __getobj__.eql?(o)
  def ! = !__getobj__
  def nil? = __getobj__.nil?
  def to_s = __getobj__.to_s
  def inspect = __getobj__.inspect
  def hash = __getobj__.hash
  def ===(o) = __getobj__ === o
  def =~(o) = __getobj__ =~ o
  def <=>(o) = __getobj__ <=> o
  def methods(all = true) = __getobj__.methods(all) | ::Kernel.instance_method(:methods).bind_call(self, all)
  def public_methods(all = true)
    __getobj__.public_methods(all) | ::Kernel.instance_method(:public_methods).bind_call(self, all)
  end
  def protected_methods(all = true)
    __getobj__.protected_methods(all) | ::Kernel.instance_method(:protected_methods).bind_call(self, all)
  end
  def method(n) = ::Kernel.instance_method(:method).bind_call(self, n)
  def freeze = ::Kernel.instance_method(:freeze).bind_call(self)
  def frozen? = ::Kernel.instance_method(:frozen?).bind_call(self)
  def dup = (c = ::Kernel.instance_method(:dup).bind_call(self); c.__setobj__(__getobj__.dup); c)
  def clone(**k)
    c = ::Kernel.instance_method(:clone).bind_call(self, **k)
    c.__setobj__(__getobj__.clone(**k)) unless c.frozen?
    c
  end
  def tap = (yield self; self)
  def then = yield(self)
  def itself = self
  def instance_variables = ::Kernel.instance_method(:instance_variables).bind_call(self)
  def marshal_dump
    own = instance_variables.reject { |name| name.start_with?("@delegate_") }
    [:__v2__, own, own.map { |name| instance_variable_get(name) }, __getobj__]
  end
  def marshal_load(parts)
    mark, names, values, target = parts
    return __setobj__(parts) unless :__v2__ == mark
    names.zip(values) { |name, value| instance_variable_set(name, value) }
    __setobj__(target)
  end
end
class SimpleDelegator < Delegator
  def __getobj__
    unless defined?(@delegate_sd_obj)
      return yield if block_given?
      ::Kernel.raise ::ArgumentError, "not delegated"
    end
    @delegate_sd_obj
  end
  def __setobj__(o) = (::Kernel.raise ::ArgumentError, "cannot delegate to self" if equal?(o); @delegate_sd_obj = o)
end
def DelegateClass(sup, &b)
  k = Class.new(Delegator)
  k.class_eval do
    def __getobj__
      ::Kernel.raise ::ArgumentError, "not delegated" unless defined?(@delegate_dc_obj)
      @delegate_dc_obj
    end
    def __setobj__(o) = (@delegate_dc_obj = o)
    (sup.public_instance_methods - Delegator.public_instance_methods - %i[to_s inspect =~ !~ === class]).each do |m|
      define_method(m) do |*a, **kw, &blk|
        kw.empty? ? __getobj__.__send__(m, *a, &blk) : __getobj__.__send__(m, *a, **kw, &blk)
      end
    end
    sup.protected_instance_methods.each do |m|
      define_method(m) { |*a, &blk| __getobj__.__send__(m, *a, &blk) }
      protected m
    end
  end
  k.module_eval(&b) if b
  k
end
class WeakRef < Delegator
  class RefError < StandardError; end
  TARGETS = ::ObjectSpace::WeakMap.new
  private_constant :TARGETS
  def __getobj__
    o = TARGETS[self]
    ::Kernel.raise RefError, "Invalid Reference - probably recycled" if o.nil?
    o
  end
  def __setobj__(o) = (TARGETS[self] = o)
  def weakref_alive? = !TARGETS[self].nil?
end
