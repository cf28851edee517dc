# HTTP for cookbooks: to anybody over net/http of the runtime, and to the Chef server, where
# requests are signed and carry JSON.
class SocketError < StandardError; end unless defined?(SocketError)
class Chef
  class HTTP
    def initialize(url, options = {}) = (@url, @options = url, options)
    attr_reader :url, :options
    %w{get delete head}.each do |m|
      define_method(m) { |path, headers = {}| Simple.request(m.upcase, join(path), headers, nil) }
    end
    %w{post put}.each do |m|
      define_method(m) { |path, body, headers = {}| Simple.request(m.upcase, join(path), headers, body) }
    end
    def join(path)
      path = path.to_s
      return path if path.start_with?("http://", "https://")
      scheme, rest = "#{@url}/#{path}".split("://", 2)
      rest ? "#{scheme}://#{rest.squeeze("/")}" : scheme
    end

    module Simple
      # A server that is not there is asked again, a few times, with a pause before each.
      def self.again(uri)
        tries, most = 0, Chef::Config[:http_retry_count]
        begin
          tries += 1
          yield
        rescue SocketError, Errno::ETIMEDOUT, Errno::ECONNRESET, Errno::ECONNREFUSED, Timeout::Error => e
          what = case e
                 when Errno::ECONNREFUSED then "Connection refused connecting"
                 when Timeout::Error then "Timeout connecting"
                 else "Error connecting"
                 end
          if tries <= most
            Chef::Log.warn("#{what} to #{uri}, retry #{tries}/#{most}")
            sleep(Chef::Config[:http_retry_delay])
            retry
          end
          raise e.class, what == "Error connecting" ? "#{what} to #{uri} - #{e.message}" :
            "#{what} to #{uri}, giving up"
        end
      end
      def self.fetch(uri, headers) = request("GET", uri, headers, nil)
      def self.request(method, uri, headers, body)
        require "net/http"
        u = URI(uri)
        klass = Net::HTTP.const_get(method.capitalize)
        req = klass.new(u)
        headers.each { |k, v| req[k] = v }
        req.body = body if body
        res = again(uri) { Net::HTTP.start(u.host, u.port, use_ssl: u.scheme == "https") { |h| h.request(req) } }
        FxAnswers.check(res.code.to_i, res).body
      end
    end
  end

  # Answers that are errors, in the original's classes.
  module FxAnswers
    # The answer, unless it is an error.
    def self.check(code, response)
      return response if code < 400
      raise (code < 500 ? Net::HTTPServerException : Net::HTTPFatalError)
        .new("#{code} \"#{response.message}\"", response)
    end
    def self.made(status, fields, body)
      require "net/http/responses"
      rest_of_library unless Net.const_defined?(:HTTP, false)
      Net::HTTPResponse.fx_made(status, fields, body)
    end

    # What cookbooks use without asking for it.
    def self.rest_of_library
      %i{HTTP OpenTimeout ReadTimeout HTTPBadResponse}.each { |name| Net.autoload(name, "net/http") }
    end

    # Why nobody answered.
    def self.unanswered(kind, why, url)
      case kind
      when "refused" then raise Errno::ECONNREFUSED, "Connection refused connecting to #{url}, giving up"
      when "time" then raise Timeout::Error, "Timeout connecting to #{url}, giving up"
      when "certificate", "host", "tls"
        OpenSSL
        reason = kind == "tls" ? why : "certificate verify failed (#{kind == "host" ? "hostname mismatch" : why})"
        raise OpenSSL::SSL::SSLError, "SSL Error connecting to #{url} - #{reason}"
      when "name"
        require "net/http"
        u = URI(url)
        raise SocketError, "Error connecting to #{url} - Failed to open TCP connection to #{u.host}:#{u.port} " \
          "(getaddrinfo: Name or service not known)"
      else raise Errno::ECONNRESET, "Error connecting to #{url} - #{why}"
      end
    end
  end

  # The server of this run, as who the node is. What changes something there is a step of its own.
  class ServerAPI < HTTP
    # Versions of the server's interface that a request can be made in, the best first.
    USUAL = [2].freeze
    MANIFESTS = [2, 0].freeze
    CLIENTS = [1, 0].freeze

    def initialize(url = Chef::Config[:chef_server_url], options = {})
      super
    end
    def connection
      @connection ||= begin
        name = @options[:client_name] || Chef::Config[:node_name]
        key = @options[:raw_key] || Chef::Config[:client_key_contents]
        file = @options[:signing_key_filename] || Chef::Config[:client_key] unless key
        FxConnections.to(@url, name, file, key)
      end
    rescue Chef::Exceptions::PrivateKeyMissing
      # In the words of the original's runtime.
      why = ::File.exist?(file) ? "EACCES: Permission denied" : "ENOENT: No such file or directory"
      Chef::Log.warn("Failed to read the private key #{file}: #<Errno::#{why} @ rb_sysopen - #{file}>")
      raise
    end
    %w{get delete head}.each { |m| define_method(m) { |path, headers = {}| request(m.upcase, path, headers) } }
    %w{post put}.each { |m| define_method(m) { |path, data, headers = {}| request(m.upcase, path, headers, data) } }
    alias get_rest get
    alias delete_rest delete
    alias post_rest post
    alias put_rest put

    def request(method, path, headers = {}, data = nil)
      method = method.to_s.upcase
      body = data && (data.is_a?(String) ? data : Chef::JSONCompat.to_json(data))
      response = exchange(method, path, headers, body)
      text = response.body.to_s
      return text unless response["content-type"].to_s.include?("json") && !text.empty?
      Chef::JSONCompat.parse(text)
    end
    def raw_request(method, path, headers = {}, data = nil) = exchange(method.to_s.upcase, path, headers, data).body
    # The bytes of a file.
    def fetch(url) = exchange("GET", url, { "Accept" => "*/*" }, nil).body

    # The answer as it is; those that are errors are raised.
    def exchange(method, path, headers, body)
      response = if FX.only_reads?(method, path) || FX.acting?
                   ask(method, path, headers, body)
                 else
                   changes = [[:chef_server, path.to_s, :request, nil, method]]
                   FX.tell("chef_server", path.to_s, method.downcase, "asked for by policy", changes) do
                     ask(method, path, headers, body)
                   end
                 end
      return FxAnswers.made(200, {}, "") unless response
      FxAnswers.check(response.code.to_i, response)
    rescue Net::HTTPServerException, Net::HTTPFatalError => e
      Chef::Log.info("HTTP Request Returned #{e.response.code} #{e.response.message}: #{said(e.response.body)}")
      raise
    end

    private

    def ask(method, path, headers, body)
      sent = { "X-Remote-Request-Id" => Chef::RequestID.instance.request_id, "X-Chef-Version" => Chef::VERSION.to_s }
      sent.merge!(headers.to_h { |k, v| [k.to_s, v.to_s] })
      sent.merge!(Chef::Config[:custom_http_headers] || {})
      versions = @options[:api_version] ? [@options[:api_version].to_i] : @options[:versions] || USUAL
      status, fields, text, url = FX.ask(connection, method, path.to_s, sent, body, versions)
      return FxAnswers.unanswered(fields, text, url) unless status
      FxAnswers.made(status, fields, text)
    end

    def said(body)
      Array(Chef::JSONCompat.parse(body)["error"]).join(", ")
    rescue StandardError
      ""
    end
  end

  # Connections by who speaks: one is kept for all requests of a run.
  module FxConnections
    def self.to(url, name, key_file, key)
      (@all ||= {})[[url, name, key_file, key]] ||= FX.connect(settings(url).merge(
        "name" => name, "key_file" => key_file, "key" => key
      ))
    end

    def self.settings(url)
      c = Chef::Config
      check_files(c)
      {
        "url" => url, "protocol" => protocol, "retries" => c[:http_retry_count], "delay" => c[:http_retry_delay],
        "timeout" => c[:rest_timeout], "verify" => c[:verify_api_cert] || c[:ssl_verify_mode] != :verify_none,
        "authorities" => c[:ssl_ca_file] || ENV["SSL_CERT_FILE"], "trusted" => trusted, "proxy" => proxy(url),
        "client_cert" => c[:ssl_client_cert], "client_key" => c[:ssl_client_key],
        "headers" => { "User-Agent" => "Chef Client/#{Chef::VERSION} (fixpoint; +https://chef.io)" },
      }
    end

    def self.protocol = Chef::Config[:fips] ? "1.3" : Chef::Config[:authentication_protocol_version].to_s

    def self.check_files(c)
      %i{ssl_ca_path ssl_ca_file ssl_client_cert ssl_client_key}.each do |name|
        next if c[name].nil? || ::File.exist?(c[name])
        raise Chef::Exceptions::ConfigurationError, "The configured #{name} #{c[name]} does not exist"
      end
      return if c[:ssl_client_cert].nil? == c[:ssl_client_key].nil?
      raise Chef::Exceptions::ConfigurationError, "You must configure ssl_client_cert and ssl_client_key together"
    end

    # Certificates that the site trusts beside the system's.
    def self.trusted
      dirs = [Chef::Config[:trusted_certs_dir], Chef::Config[:ssl_ca_path]].compact
      dirs.flat_map { |d| FX.names(d).select { |f| f.end_with?(".crt", ".pem") }.map { |f| "#{d}/#{f}" } }
    end

    # The proxy for an address: the configuration's, else the environment's.
    def self.proxy(url)
      scheme = url[/\A\w+/]
      host = url[%r{\A\w+://(?:[^@/]*@)?\[?([^\]/:]+)}, 1].to_s
      c = Chef::Config
      at = c[:"#{scheme}_proxy"] || ENV["#{scheme}_proxy"] || ENV["#{scheme.upcase}_PROXY"]
      return nil if at.nil? || at.empty? || spared?(host)
      at = "http://#{at}" unless at.include?("://")
      user = c[:"#{scheme}_proxy_user"]
      return at unless user
      # Neither may end the part of the address that they stand in.
      who = [user, c[:"#{scheme}_proxy_pass"]].map do |text|
        text.to_s.b.gsub(/[^A-Za-z0-9._~-]/n) { |byte| format("%%%02X", byte.ord) }
      end
      at.sub("://") { "://#{who.join(":")}@" }
    end

    # `no_proxy` lists ends of names, which may have stars.
    def self.spared?(host)
      list = Chef::Config[:no_proxy] || ENV["no_proxy"] || ENV["NO_PROXY"]
      list.to_s.split(/\s*,\s*/).any? do |one|
        ::File.fnmatch(one, host) || host == one.delete_prefix(".") || host.end_with?(".#{one.delete_prefix(".")}")
      end
    end
  end

  # The same for all requests of a run.
  class RequestID
    def self.instance = @instance ||= new
    def request_id = @request_id ||= FX.uuid
    def reset_request_id = @request_id = nil
  end
end
