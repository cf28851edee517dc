# What a run needs and does not find. The message is that of the original's server, which names
# nothing; our own verbs say what it is.
class Chef
  module FxMissing
    # `place` is where the policy asks for it, as file:line, if one line does.
    def self.raise(message, what, place = nil)
      Chef::Exceptions
      e = Net::HTTPServerException.exception(message)
      e.instance_variable_set(:@fx_missing, what)
      e.instance_variable_set(:@fx_place, place)
      Kernel.raise e
    end
    def self.of(error) = error.instance_variable_get(:@fx_missing)
    def self.place(error) = error.instance_variable_get(:@fx_place)
  end
end
