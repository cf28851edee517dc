# pedant_run.rb CONFIG PEDANT_FLAGS... -- RSPEC_FLAGS...: the suite without its gem installed.
i = ARGV.index("--") || ARGV.size
flags, rspec = ARGV[0...i], ARGV[i + 1..] || []
config = flags.shift
require "json"
require "rspec/core"
require "pedant"
require "pedant/organization"
module Pedant
  class Gem
    def self.base_directories = [ENV.fetch("PEDANT_DIR")]
  end
end
Pedant.config.suite = "api"
Pedant.config[:config_file] = config
Pedant.setup(flags)
exit RSpec::Core::Runner.run(Pedant.config.rspec_args + rspec)
