class SocketError < StandardError; end
class Socket
  def self.gethostname = Process.__uname[1]
  def self.gethostbyname(n) = [n, [], 2, "\x7f\0\0\1"]
  def self.ip_address_list = []
  AF_INET = 2
  AF_INET6 = 10
  SOCK_STREAM = 1
  module Constants; AF_INET = 2; AF_INET6 = 10; end
end
class Addrinfo; end
class TCPSocket; def self.new(*) = raise(NotImplementedError, "sockets are not supported by this runtime"); end
class UNIXSocket; def self.new(*) = raise(NotImplementedError, "sockets are not supported by this runtime"); end
