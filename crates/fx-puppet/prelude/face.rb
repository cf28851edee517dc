# Names that modules mention in passing.
module Puppet
  class Face
    def self.define(*) = nil
    def self.[](*) = nil
  end
  class Interface
    def self.face?(*) = false
  end
  class Application
    def self.run_mode(*) = nil
    # A run is not cut short by a resource: the rest has its turn.
    def self.stop! = nil
    def self.stop_requested? = false
    def self.restart! = nil
  end
  module Reports
    def self.register_report(*) = nil
  end
end
class Hiera
  class Scope; end
  module Backend; end
end
module PuppetX; end unless defined?(PuppetX)
