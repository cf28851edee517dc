module Singleton
  def self.included(base)
    super
    base.private_class_method :new, :allocate
    base.extend(SingletonClassMethods)
  end
  module SingletonClassMethods
    def instance = (@singleton__instance__ ||= new)
    def inherited(sub) = (super; sub.instance_variable_set(:@singleton__instance__, nil))
    def _load(_) = instance
    def clone
      super.tap do |copy|
        copy.instance_variable_set(:@singleton__instance__, nil)
        Singleton.included(copy)
      end
    end
  end
  def clone = raise(TypeError, "can't clone instance of singleton #{self.class}")
  def dup = raise(TypeError, "can't dup instance of singleton #{self.class}")
  def _dump(_ = -1) = ""
end
