# What a run needs and does not find. The message is that of the original's server, which names
# nothing; our own verbs say what it is.
class Chef
  module FxMissing
    def self.raise(message, what)
      Chef::Exceptions
      e = Net::HTTPServerException.exception(message)
      e.instance_variable_set(:@fx_missing, what)
      Kernel.raise e
    end
    def self.of(error) = error.instance_variable_get(:@fx_missing)
  end
end
