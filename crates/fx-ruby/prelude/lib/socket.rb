# Socket: the names and numbers that programs read, and the host's own name. Connections are
# refused: they go through the host's HTTP client instead.
class SocketError < StandardError; end

class BasicSocket < IO; end

class Socket < BasicSocket
  module Constants
    AF_UNSPEC = PF_UNSPEC = 0
    AF_UNIX = PF_UNIX = 1
    AF_INET = PF_INET = 2
    AF_INET6 = PF_INET6 = 10
    SOCK_STREAM = 1
    SOCK_DGRAM = 2
    SOCK_RAW = 3
    IPPROTO_IP = 0
    IPPROTO_TCP = 6
    IPPROTO_UDP = 17
    SOL_SOCKET = 1
    SO_REUSEADDR = 2
    SO_BROADCAST = 6
    SO_KEEPALIVE = 9
    AI_PASSIVE = 1
    NI_NUMERICHOST = 1
    INADDR_ANY = 0
    INADDR_LOOPBACK = 0x7F000001
  end
  include Constants
  Constants.constants.each { |name| const_set(name, Constants.const_get(name)) }

  def self.gethostname = Process.__uname[1]
  def self.gethostbyname(name)
    raise(NotImplementedError, "Socket.gethostbyname(#{name.inspect}): names are not resolved by this runtime")
  end
  def self.ip_address_list
    raise(NotImplementedError, "Socket.ip_address_list: sockets are not supported by this runtime")
  end
  def self.getaddrinfo(*) = raise(NotImplementedError, "Socket.getaddrinfo: names are not resolved by this runtime")
  def self.new(*) = raise(NotImplementedError, "sockets are not supported by this runtime")
end

class Addrinfo
  def self.method_missing(name, *)
    raise(NotImplementedError, "Addrinfo.#{name}: sockets are not supported by this runtime")
  end
  def self.respond_to_missing?(*) = true
end

class IPSocket < BasicSocket
  # The address of a name that is one already, or means this machine.
  def self.getaddress(name)
    return name if name.match?(/\A(?:\d+\.){3}\d+\z/) || name.include?(":")
    return "127.0.0.1" if name == "localhost"
    raise(NotImplementedError, "IPSocket.getaddress(#{name.inspect}): names are not resolved by this runtime")
  end
end

%i[TCPSocket TCPServer UDPSocket UNIXSocket UNIXServer].each do |name|
  Object.const_set(name, Class.new(name.start_with?("UNIX") ? BasicSocket : IPSocket) do
    define_singleton_method(:new) do |*|
      raise(NotImplementedError, "#{name}.new: sockets are not supported by this runtime")
    end
    define_singleton_method(:open) do |*|
      raise(NotImplementedError, "#{name}.open: sockets are not supported by this runtime")
    end
  end)
end
