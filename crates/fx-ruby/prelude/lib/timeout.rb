module Timeout
  class ExitException < Exception; end
  class Error < RuntimeError
    def self.handle_timeout(m) = raise(self, m)
  end unless const_defined?(:Error, false)
  def timeout(sec, klass = nil, message = nil)
    return yield(sec) if sec.nil? || sec == 0
    old = Process.__deadline(Process.__mono / 1e9 + sec)
    begin
      yield(sec)
    rescue Timeout::Error => e
      raise klass || Timeout::Error, message || "execution expired"
    ensure
      Process.__deadline(old)
    end
  end
  module_function :timeout
end
TimeoutError = Timeout::Error unless defined?(TimeoutError)
