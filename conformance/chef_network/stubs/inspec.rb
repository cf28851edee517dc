module Inspec; VERSION='5'; module Dist; PRODUCT_NAME='InSpec'; end; class FetcherFailure < StandardError; end; end
