# Resolv: addresses of names by the hosts file and the system's own resolver (`getent`), and the
# forms of IPv4 and IPv6 addresses. Records other than addresses are refused: there is no DNS client here.
require "socket"
require "timeout"

class Resolv
  class ResolvError < StandardError; end
  class ResolvTimeout < Timeout::Error; end

  class IPv4
    Regex256 = /25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9]/
    Regex = /\A(#{Regex256})\.(#{Regex256})\.(#{Regex256})\.(#{Regex256})\z/
    attr_reader :address
    def self.create(arg)
      return arg if arg.is_a?(IPv4)
      match = Regex.match(arg.to_s) or raise ArgumentError, "cannot interpret as IPv4 address: #{arg.inspect}"
      new(match.captures.map(&:to_i).pack("CCCC"))
    end
    def initialize(address)
      raise ArgumentError, "IPv4 address must be 4 bytes" unless address.is_a?(String) && address.bytesize == 4
      @address = address
    end
    def to_s = @address.unpack("CCCC").join(".")
    def inspect = "#<#{self.class} #{self}>"
    def to_name = DNS::Name.create("#{@address.unpack("CCCC").reverse.join(".")}.in-addr.arpa.")
    def ==(other) = @address == other.address
    def eql?(other) = self == other
    def hash = @address.hash
  end

  class IPv6
    groups = "(?:\\h{1,4}(?::\\h{1,4})*)?"
    quad = "(?:\\d+\\.){3}\\d+"
    Regex_8Hex = /\A\h{1,4}(?::\h{1,4}){7}\z/
    Regex_CompressedHex = /\A(#{groups})::(#{groups})\z/
    Regex_6Hex4Dec = /\A(?:\h{1,4}:){6}#{quad}\z/
    Regex_CompressedHex4Dec = /\A#{groups}::(?:\h{1,4}:)*#{quad}\z/
    Regex = Regexp.union(Regex_8Hex, Regex_CompressedHex, Regex_6Hex4Dec, Regex_CompressedHex4Dec)
    attr_reader :address
    def self.create(arg)
      return arg if arg.is_a?(IPv6)
      text = arg.to_s
      Regex.match?(text) or raise ArgumentError, "not numeric IPv6 address: #{arg}"
      text = text.sub(/(\d+)\.(\d+)\.(\d+)\.(\d+)\z/) do
        format("%x:%x", $1.to_i * 256 + $2.to_i, $3.to_i * 256 + $4.to_i)
      end
      left, right = text.split("::", 2)
      left = left.to_s.split(":")
      right = right.to_s.split(":")
      groups = text.include?("::") ? left + ["0"] * [8 - left.size - right.size, 0].max + right : left
      new(groups.map { |group| group.to_i(16) }.pack("n8"))
    end
    def initialize(address)
      raise ArgumentError, "IPv6 address must be 16 bytes" unless address.is_a?(String) && address.bytesize == 16
      @address = address
    end
    def to_s = format("%x:%x:%x:%x:%x:%x:%x:%x", *@address.unpack("n8")).sub(/(^|:)0(:0)+(:|$)/, "::")
    def inspect = "#<#{self.class} #{self}>"
    def to_name = DNS::Name.create("#{@address.unpack1("H32").chars.reverse.join(".")}.ip6.arpa.")
    def ==(other) = @address == other.address
    def eql?(other) = self == other
    def hash = @address.hash
  end

  AddressRegex = Regexp.union(IPv4::Regex, IPv6::Regex)

  # What the hosts file says.
  class Hosts
    DefaultFileName = "/etc/hosts"
    def initialize(filename = DefaultFileName) = @filename = filename
    def lines
      return [] unless File.readable?(@filename)
      File.readlines(@filename).map { |line| line.sub(/#.*/, "").split }.select { |words| words.size > 1 }
    end
    def getaddresses(name) = lines.select { |words| words.drop(1).include?(name.to_s) }.map(&:first)
    def getaddress(name) = getaddresses(name).first || raise(ResolvError, "#{@filename} has no name: #{name}")
    def each_address(name, &block) = getaddresses(name).each(&block)
    def getnames(address) = lines.select { |words| words.first == address.to_s }.flat_map { |words| words.drop(1) }
    def getname(address) = getnames(address).first || raise(ResolvError, "#{@filename} has no address: #{address}")
    def each_name(address, &block) = getnames(address).each(&block)
  end

  class DNS
    Port = 53
    UDPSize = 512
    class Requester
      class RequestError < StandardError; end
    end
    class Config
      class NXDomain < ResolvError; end
      class OtherResolvError < ResolvError; end
    end
    class Name
      def self.create(arg) = arg.is_a?(Name) ? arg : new(arg.to_s.chomp(".").split("."), arg.to_s.end_with?("."))
      def initialize(labels, absolute = true)
        @labels, @absolute = labels, absolute
      end
      def absolute? = @absolute
      def to_a = @labels
      def length = @labels.length
      def [](at) = @labels[at]
      def to_s = @labels.join(".")
      def inspect = "#<#{self.class}: #{self}#{"." if @absolute}>"
      def ==(other) = other.is_a?(Name) && to_s.downcase == other.to_s.downcase && absolute? == other.absolute?
      alias eql? ==
      def hash = to_s.downcase.hash ^ @absolute.hash
    end
    class Query; end
    class Resource < Query
      attr_reader :ttl
      class DomainName < Resource
        attr_reader :name
        def initialize(name) = @name = name
      end
      class NS < DomainName; end
      class CNAME < DomainName; end
      class PTR < DomainName; end
      class SOA < Resource; end
      class MX < Resource
        attr_reader :preference, :exchange
      end
      class TXT < Resource
        attr_reader :strings
        def data = strings.join
      end
      class ANY < Query; end
      module IN
        class NS < Resource::NS; end
        class CNAME < Resource::CNAME; end
        class PTR < Resource::PTR; end
        class SOA < Resource::SOA; end
        class MX < Resource::MX; end
        class TXT < Resource::TXT; end
        class ANY < Resource::ANY; end
        class SRV < Resource
          attr_reader :priority, :weight, :port, :target
        end
        class A < Resource
          attr_reader :address
          def initialize(address) = @address = IPv4.create(address)
        end
        class AAAA < Resource
          attr_reader :address
          def initialize(address) = @address = IPv6.create(address)
        end
      end
    end

    def self.open(*args)
      dns = new(*args)
      return dns unless block_given?
      yield dns
    end
    def initialize(config_info = nil) = @config_info = config_info
    attr_writer :timeouts
    def close = nil
    def lazy_initialize = self
    def getaddresses(name) = System.addresses(name, "ahosts").map { |text| Resolv.__address(text) }
    def getaddress(name) = getaddresses(name).first || raise(ResolvError, "DNS result has no information for #{name}")
    def each_address(name, &block) = getaddresses(name).each(&block)
    def getnames(address) = System.names(address.to_s).map { |name| Name.create("#{name}.") }
    def getname(address) = getnames(address).first || raise(ResolvError, "DNS result has no information for #{address}")
    def each_name(address, &block) = getnames(address).each(&block)
    def getresources(name, type)
      if type == Resource::IN::A
        System.addresses(name, "ahostsv4").map { |text| type.new(text) }
      elsif type == Resource::IN::AAAA
        System.addresses(name, "ahostsv6").reject { |text| text.start_with?("::ffff:") }.map { |text| type.new(text) }
      else
        kind = type.name.to_s.split("::").last
        raise NotImplementedError, "Resolv::DNS: records of type #{kind} are not looked up by this runtime"
      end
    end
    def getresource(name, type)
      getresources(name, type).first || raise(ResolvError, "DNS result has no information for #{name}")
    end
    def each_resource(name, type, &block) = getresources(name, type).each(&block)
  end

  # The system's resolver.
  module System
    def self.run(*words) = IO.popen(["getent", *words], err: File::NULL, &:read).to_s.lines.map(&:split)
    def self.addresses(name, database) = run(database, name.to_s).map(&:first).compact.uniq
    def self.names(address) = run("hosts", address).flat_map { |words| words.drop(1) }
  end

  def self.__address(text) = text.include?(":") ? IPv6.create(text) : IPv4.create(text)

  def self.new(*) = allocate
  def self.getaddress(name) = new.getaddress(name)
  def self.getaddresses(name) = new.getaddresses(name)
  def self.each_address(name, &block) = new.each_address(name, &block)
  def self.getname(address) = new.getname(address)
  def self.getnames(address) = new.getnames(address)
  def self.each_name(address, &block) = new.each_name(address, &block)

  def getaddresses(name)
    return [name.to_s] if AddressRegex.match?(name.to_s)
    found = Hosts.new.getaddresses(name)
    found.empty? ? System.addresses(name, "ahosts") : found
  end
  def getaddress(name) = getaddresses(name).first || raise(ResolvError, "no address for #{name}")
  def each_address(name, &block) = getaddresses(name).each(&block)
  def getnames(address)
    found = Hosts.new.getnames(address)
    found.empty? ? System.names(address.to_s) : found
  end
  def getname(address) = getnames(address).first || raise(ResolvError, "no name for #{address}")
  def each_name(address, &block) = getnames(address).each(&block)
end
