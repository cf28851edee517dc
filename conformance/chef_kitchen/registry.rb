#!/usr/bin/ruby
# A way to the package registries, and to nothing else, for a copy of the machine whose network is its own.
#
#   registry.rb serve SOCKET    an HTTP proxy on a socket of the file system: plain requests and CONNECT, only to the
#                               hosts that this machine's apt is set up for
#   registry.rb relay SOCKET    hands what arrives at 127.0.0.1:3142 to it; started inside the copy's network
require 'socket'
require 'uri'

def shovel(one, two)
  back = Thread.new { IO.copy_stream(two, one) rescue nil; one.close_write rescue nil }
  IO.copy_stream(one, two) rescue nil
  two.close_write rescue nil
  back.join
ensure
  one.close
  two.close
end

def serve(path, hosts)
  File.delete(path) if File.socket?(path)
  server = UNIXServer.new(path)
  loop { Thread.new(server.accept) { |client| answer(client, hosts) } }
end

# One request a connection: apt takes no offence.
def answer(client, hosts)
  head = +''
  head << client.readpartial(65_536) until head.include?("\r\n\r\n")
  verb, address, = head.split(' ', 3)
  uri = URI(verb == 'CONNECT' ? "https://#{address}" : address)
  unless hosts.include?(uri.host)
    client.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    return client.close
  end
  other = TCPSocket.new(uri.host, uri.port)
  if verb == 'CONNECT'
    client.write("HTTP/1.1 200 OK\r\n\r\n")
  else
    other.write(head.sub(address, uri.request_uri).sub("\r\n", "\r\nConnection: close\r\n"))
  end
  shovel(client, other)
rescue StandardError
  client.close
end

def relay(path)
  server = TCPServer.new('127.0.0.1', 3142)
  loop { Thread.new(server.accept) { |client| shovel(client, UNIXSocket.new(path)) } }
end

case ARGV[0]
when 'serve'
  sources = Dir['/etc/apt/sources.list', '/etc/apt/sources.list.d/*']
  hosts = sources.flat_map { |file| File.read(file).scan(%r{^[^#\n]*https?://([^/\s]+)}).flatten }
  serve(ARGV[1], hosts)
when 'relay' then relay(ARGV[1])
else abort 'registry.rb serve|relay SOCKET'
end
