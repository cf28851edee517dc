# What cookbooks call on the application.
class Chef
  class Application
    def self.fatal!(message, error = 1)
      Chef::Log.fatal(message)
      exit!(error)
    end
    def self.exit!(message = "", error = -1)
      code = message.is_a?(Integer) ? message : error.is_a?(Integer) ? error : 1
      Kernel.exit([0, 1, 2, 3, 35, 37, 40, 41, 42, 43, 213].include?(code) ? code : 1)
    end
    def self.logger = Chef::Log
    def self.debug_stacktrace(*) = nil
  end
end
