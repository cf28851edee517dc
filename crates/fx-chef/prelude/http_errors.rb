# What is raised for answers that are errors, also where the library with these names is never loaded.
module Net
  # The library brings its own when it comes.
  unless const_defined?(:HTTPServerException, false) || const_defined?(:HTTP, false)
    module FxResponse
      def initialize(message, response = nil)
        super(message)
        @response = response
      end
      attr_reader :response
      def data = @response
    end
    class HTTPServerException < StandardError; include FxResponse; end
    HTTPClientException = HTTPServerException unless const_defined?(:HTTPClientException, false)
    class HTTPFatalError < StandardError; include FxResponse; end
  end
end
