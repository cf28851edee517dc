# An object that is its own lock.
module Mutex_m
  VERSION = "0.1.1"
  def self.append_features(base)
    super
    return if base.singleton_class?
    base.class_eval do
      alias_method :locked?, :mu_locked?
      alias_method :lock, :mu_lock
      alias_method :unlock, :mu_unlock
      alias_method :try_lock, :mu_try_lock
      alias_method :synchronize, :mu_synchronize
    end
  end
  def self.extend_object(object)
    super
    object.mu_extended
  end
  def mu_extended
    singleton_class.class_eval do
      alias_method :locked?, :mu_locked?
      alias_method :lock, :mu_lock
      alias_method :unlock, :mu_unlock
      alias_method :try_lock, :mu_try_lock
      alias_method :synchronize, :mu_synchronize
    end
    mu_initialize
  end
  def mu_synchronize(&block) = __mu.synchronize(&block)
  def mu_locked? = __mu.locked?
  def mu_try_lock = __mu.try_lock
  def mu_lock = __mu.lock
  def mu_unlock = __mu.unlock
  def sleep(*args) = __mu.sleep(*args)

  private

  def __mu = @_mutex || mu_initialize
  def mu_initialize = @_mutex = Thread::Mutex.new
  def initialize(*args, **kw)
    mu_initialize
    super
  end
end
