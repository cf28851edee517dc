# In the place of puppetlabs_spec_helper, which Debian has not: where a module's fixtures are.
require 'rspec-puppet'

RSpec.configure do |config|
  config.module_path = File.expand_path('spec/fixtures/modules')
  config.environmentpath = File.expand_path('spec')
  config.strict_variables = true
end
