# http_request: one request, its answer logged.
class Chef
  class Resource
    class HttpRequest
      # Without one the name is sent.
      def message(given = nil, &block)
        given = block if block
        @message = given unless given.nil?
        @message.nil? ? name : @message
      end
    end
  end
  class Provider
    class HttpRequest < Chef::Provider
      def load_current_resource = nil
      def body
        m = new_resource.message
        m = m.call if m.is_a?(Proc)
        m.is_a?(Hash) ? m.to_json : m
      end
      { get: false, head: false, delete: false, options: false, post: true, put: true, patch: true }
        .each do |verb, with_body|
        define_method(:"action_#{verb}") do
          r = new_resource
          fx_change("#{r} #{verb.upcase} to #{r.url}", fx_about(:http_request, r.url, request: [nil, verb.upcase])) do
            answer = Chef::HTTP::Simple.request(verb.to_s.upcase, r.url, r.headers || {}, with_body ? body : nil)
            Chef::Log.debug("#{r} #{verb.upcase} request response: #{answer}")
          end
        end
      end
    end
  end
end
