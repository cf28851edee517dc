# Pages for people about what a server answered, or that it did not: headings and texts in the
# original's words, by the phase of the run and the code of the answer.
class Chef
  module FxInspectors
    NETWORK = [Errno::ECONNREFUSED, Errno::ETIMEDOUT].freeze
    HEADLINES = {
      registration: 'Chef Infra Client encountered an error attempting to create the client "%s"',
      node: 'Chef Infra Client encountered an error attempting to load the node data for "%s"',
      expand: "Error expanding the run_list:", resolve: "Error Resolving Cookbooks for Run List:",
      sync: "Error Syncing Cookbooks:",
    }.freeze
    FORBIDDEN = {
      node: "Your client is not authorized to load the node data (HTTP 403).\n",
      expand: "Your client is not authorized to load one or more of your roles (HTTP 403).\n",
      resolve: "This client is not authorized to read some of the information required to\naccess its cookbooks " \
        "(HTTP 403).\n\nTo access its cookbooks, a client needs to be able to read its environment and\nall of the " \
        "cookbooks in its expanded run list.\n",
    }.freeze
    EOF_ADVICE = "Received an EOF on transport socket.  This almost always indicates a network\nerror external to " \
      "chef-client.\n".freeze

    class << self
      # Shows the page of a phase; what is about nothing of the network passes.
      def describe(phase, error, recipes = [])
        return unless FX.doc?
        @phase, @error, @recipes = phase, error, recipes
        sections = of(error) or return
        FX.describe(format(HEADLINES[phase], Chef::Config[:node_name]), sections + [FxFailures.system_info])
      end

      private

      def of(error)
        case error
        when Chef::Exceptions::MissingRole, Chef::Exceptions::InvalidPrivateKey then nil
        when Chef::Exceptions::PrivateKeyMissing then missing_key
        when Chef::Exceptions::InvalidRedirect
          [["Invalid Redirect:", "Change your Chef Infra Server location in client.rb to the Chef Infra Server's " \
            "FQDN to avoid unwanted redirections.\n"]]
        when EOFError then [["Authentication Error:", EOF_ADVICE]]
        when *NETWORK, ->(e) { %w{Timeout::Error SocketError}.include?(e.class.name) } then network
        else
          return answer(error.response) if error.respond_to?(:response) && error.response
          # Registration says nothing of what it does not know.
          @phase == :registration ? [] : [["Unexpected Error:", "#{error.class.name}: #{error.message}"]]
        end
      end

      def url = Chef::Config[:chef_server_url]
      def settings(text) = ["Relevant Config Settings:", text]
      def response = ["Server Response:", said]

      def missing_key
        name, pad = @phase == :registration ? ["validation_key", ""] : ["client_key", "       "]
        [["Private Key Not Found:", "Your private key could not be loaded. If the key file exists, ensure that it " \
          "is\nreadable by Chef Infra Client.\n"], settings("#{name}#{pad} \"#{Chef::Config[name.to_sym]}\"\n")]
      end

      def network
        if @phase == :registration
          return [["Network Error:", "There was a network error connecting to the Chef Infra Server:\n" \
            "#{@error.message}\n"], settings("chef_server_url  \"#{url}\"\n\nIf your chef_server_url is correct, " \
            "your network could be down.\n")]
        end
        page = [["Networking Error:", "#{@error.message}\n\nYour chef_server_url may be misconfigured, or the " \
          "network could be down.\n"]]
        @phase == :expand ? page : page << settings("chef_server_url  \"#{url}\"\n")
      end

      def answer(answer)
        case answer.code.to_i
        when 401 then unauthorized
        when 403 then forbidden
        when 400 then known(:expand) ? other : [["Invalid Request Data:", "The data in your request was invalid " \
          "(HTTP 400).\n"], response]
        when 404 then not_found
        when 406 then version(answer)
        when 412 then @phase == :resolve ? unsolved : other
        when 500
          what = @phase == :expand ? "a role" : "the node data"
          [["Unknown Server Error:", "The server had a fatal error attempting to load #{what}.\n"], response]
        when 502, 503 then unavailable
        when 504 then @phase == :sync ? unavailable : other
        else other
        end
      end

      def known(*phases) = phases.include?(@phase)
      def other = [["Unexpected API Request Failure:", said]]
      def unavailable = [["Server Unavailable", "The Chef Infra Server is temporarily unavailable"], response]

      def unauthorized
        own = known(:registration, :expand)
        failed = "Failed to authenticate to the #{own ? "Chef Infra Server" : "chef server"} (http 401).\n"
        if @phase != :expand && @error.response.body.to_s.match?(/synchronize the clock/i)
          return [["Authentication Error:", failed + "The request failed because your clock has drifted by more than " \
            "15 minutes.\nSyncing your clock to an NTP Time source should resolve the issue.\n"]]
        end
        [["Authentication Error:", failed], response, settings(identity)]
      end

      def identity
        c = Chef::Config
        if @phase == :registration
          return "chef_server_url         \"#{url}\"\nvalidation_client_name  \"#{c[:validation_client_name]}\"\n" \
            "validation_key          \"#{c[:validation_key]}\"\n\nIf these settings are correct, your validation_key " \
            "may be invalid.\n"
        end
        text = "chef_server_url   \"#{url}\"\nnode_name         \"#{c[:node_name]}\"\nclient_key        " \
          "\"#{c[:client_key]}\"\n\nIf these settings are correct, your client_key may be invalid"
        text + (@phase == :expand ? ".\n" : ", or\nyou may have a chef user with the same client name as this node.\n")
      end

      def forbidden
        c = Chef::Config
        case @phase
        when :registration
          [["Authorization Error:", "Your validation client is not authorized to create the client for this node on " \
            "the Chef Infra Server (HTTP 403).\n"], ["Possible Causes:", "* There may already be a client named " \
            "\"#{c[:node_name]}\"\n* Your validation client (#{c[:validation_client_name]}) may have misconfigured " \
            "authorization permissions.\n"]]
        when :resolve then [["Authorization Error", FORBIDDEN[:resolve]], ["Expanded Run List:", recipes], response]
        when :sync then other
        else
          [["Authorization Error", FORBIDDEN[@phase]], response, ["Possible Causes:", "* Your client " \
            "(#{c[:node_name]}) may have misconfigured authorization permissions.\n"]]
        end
      end

      def not_found
        return [] if known(:resolve, :sync)
        return other if @phase == :expand
        setting = @phase == :registration ? "chef_server_url configuration" : "chef_server_url"
        [["Resource Not Found:", "The Chef Infra Server returned a HTTP 404. This usually indicates that your " \
          "#{setting} is incorrect.\n"], settings("chef_server_url \"#{url}\"\n")]
      end

      def version(answer)
        said = answer["x-ops-server-api-version"] or return other
        said = Chef::JSONCompat.parse(said)
        [["Incompatible server API version:", "This version of the API that this request specified is not supported " \
          "by the server you sent this request to.\nThe server supports a min API version of #{said["min_version"]} " \
          "and a max API version of #{said["max_version"]}.\nChef Infra Client just made a request with an API " \
          "version of #{said["request_version"]}.\nPlease either update your Chef Infra Client or the server to be a " \
          "compatible set.\n"]]
      end

      # Why no set of cookbooks fits: the answer is a hash, a hash in text, or plain text.
      def unsolved
        why = parsed(@error.response.body)
        why = why.is_a?(Hash) && why.key?("error") ? Array(why["error"]).first : why.to_s
        why = parsed(why) if why.is_a?(String)
        text = why.is_a?(Hash) ? lacking(why) : why.to_s
        unless text.empty?
          return [["Missing Cookbooks:", text], ["Expanded Run List:", recipes]]
        end
        text = why["message"] ? "Error message: #{why["message"]}\n" : ""
        [["Cookbook dependency resolution error:", text + FxFailures::ADVICE], ["Expanded Run List:", recipes]]
      end

      def lacking(why)
        text = +""
        { "non_existent_cookbooks" => "The following cookbooks are required by the client but don't exist on the " \
            "server:\n",
          "cookbooks_with_no_versions" => "The following cookbooks exist on the server, but there is no version that " \
            "meets\nthe version constraints in this environment:\n" }.each do |key, heading|
          names = Array(why[key])
          text << heading << names.map { |n| "* #{n}\n" }.join << "\n" unless names.empty?
        end
        text
      end

      def recipes = @recipes.map { |r| "* #{r}" }.join("\n")

      def parsed(text)
        Chef::JSONCompat.parse(text)
      rescue StandardError
        text
      end

      def said
        body = @error.response.body.to_s
        found = parsed(body)
        found.is_a?(Hash) ? Array(found["error"]).join("; ") : body
      end
    end
  end
end
