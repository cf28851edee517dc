require 'rack'
module Rackup; Handler = Rack::Handler unless const_defined?(:Handler); Server = Rack::Server if defined?(Rack::Server); end
