# Distributed Ruby inside one process: a server is known by its port, and whoever names the port gets at its
# object. Nothing listens, so a server of another process is a connection that failed.
require "uri"
require "socket"

class ACL
  class ACLEntry; end

  ALLOW_DENY = 1
  DENY_ALLOW = 0

  def initialize(list = nil, order = DENY_ALLOW)
    @list, @order = list.to_a, order
  end

  def allow_addr?(_address) = true
  alias allow_socket? allow_addr?
end

module DRb
  class DRbError < RuntimeError; end
  class DRbConnError < DRbError; end
  class DRbServerNotFound < DRbError; end
  class DRbBadURI < DRbError; end
  class DRbBadScheme < DRbError; end
  class DRbRemoteError < DRbError; end
  class DRbUnknownError < DRbError; end

  module DRbUndumped; end

  class DRbServer
    FIRST_PORT = 49_152
    private_constant :FIRST_PORT
    attr_reader :uri, :front, :config, :port
    attr_accessor :verbose

    def self.next_port = (@last = (@last || FIRST_PORT) + 1)

    def initialize(uri = nil, front = nil, config = nil)
      @front, @config = front, config.is_a?(Hash) ? config : {}
      at = URI(uri || "druby://")
      raise DRbBadScheme, uri unless at.scheme == "druby"
      @port = at.port.to_i.zero? ? self.class.next_port : at.port
      host = at.host.to_s.empty? ? Socket.gethostname : at.host
      @uri = "druby://#{host}:#{@port}"
      @alive = true
      DRb.regist_server(self)
    end

    def alive? = @alive
    def thread = Thread.current
    def here?(uri) = uri == @uri

    def stop_service
      @alive = false
      DRb.remove_server(self)
    end
  end

  # Stands for the object of a server.
  class DRbObject < BasicObject
    class << self
      def new_with_uri(uri) = new(nil, uri)
    end

    def initialize(object, uri = nil)
      @object, @uri = object, uri
    end

    def __drburi = @uri
    def __drbref = nil
    def respond_to?(name, all = false) = __object.respond_to?(name, all)
    def inspect = "#<DRb::DRbObject @uri=#{@uri.inspect}>"
    def class = ::DRb::DRbObject
    def method_missing(...) = __object.__send__(...)

    private

    def __object
      return @object if @object
      server = ::DRb.fetch_server(@uri)
      return server.front if server
      ::Kernel.raise ::DRb::DRbConnError, "#{@uri} - no server of this process, and sockets are not supported"
    end
  end

  @servers = {}

  class << self
    attr_accessor :primary_server

    def start_service(uri = nil, front = nil, config = nil)
      @primary_server = DRbServer.new(uri, front, config)
    end

    def stop_service
      @primary_server&.stop_service
      @primary_server = nil
    end

    def current_server = @primary_server || raise(DRbServerNotFound, "DRb::DRbServerNotFound")
    def uri = current_server.uri
    def front = current_server.front
    def thread = @primary_server&.thread
    def here?(uri) = !fetch_server(uri).nil?
    def regist_server(server) = @servers[server.port] = server
    def fetch_server(uri) = @servers[URI(uri).port]
    def install_acl(acl) = @acl = acl
    def install_id_conv(converter) = @converter = converter

    def remove_server(server)
      @servers.delete(server.port)
      @primary_server = nil if @primary_server.equal?(server)
    end
  end
end

DRbObject = DRb::DRbObject
DRbUndumped = DRb::DRbUndumped
