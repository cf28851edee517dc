# IPAddr: addresses and networks as integers. Names of hosts are never looked up.
require "socket"

class IPAddr
  IN4MASK = 0xffffffff
  IN6MASK = 0xffffffffffffffffffffffffffffffff
  IN6FORMAT = (["%.4x"] * 8).join(":").freeze
  RE_IPV4ADDRLIKE = /\A(\d+)\.(\d+)\.(\d+)\.(\d+)\z/
  RE_IPV6ADDRLIKE_FULL = /\A(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|((?:[\da-f]{1,4}:){6})(\d+)\.(\d+)\.(\d+)\.(\d+))\z/i
  RE_IPV6ADDRLIKE_COMPRESSED = /\A
    ((?:(?:[\da-f]{1,4}:)*[\da-f]{1,4})?)
    ::
    ((?:(?:[\da-f]{1,4}:)*(?:[\da-f]{1,4}|(\d+)\.(\d+)\.(\d+)\.(\d+)))?)
  \z/ix

  class Error < ArgumentError; end
  class InvalidAddressError < Error; end
  class AddressFamilyError < Error; end
  class InvalidPrefixError < InvalidAddressError; end

  attr_reader :family

  def self.new_ntoh(addr) = new(ntop(addr))

  def self.ntop(addr)
    case addr.bytesize
    when 4 then addr.unpack("C4").join(".")
    when 16 then IN6FORMAT % addr.unpack("n8")
    else raise AddressFamilyError, "unsupported address family"
    end
  end

  def initialize(addr = "::", family = Socket::AF_UNSPEC)
    unless addr.kind_of?(String)
      case family
      when Socket::AF_INET, Socket::AF_INET6
        set(addr, family)
        @mask_addr = full_mask
        return
      when Socket::AF_UNSPEC then raise AddressFamilyError, "address family must be specified"
      else raise AddressFamilyError, "unsupported address family: #{family}"
      end
    end
    address, prefix = addr.split("/", 2)
    if address =~ /\A\[(.*)\]\z/
      address = $1
      family = Socket::AF_INET6
    end
    if address =~ /\A(.*)(%\w+)\z/
      address, zone = $1, $2
      family = Socket::AF_INET6
    end
    if family == Socket::AF_UNSPEC || family == Socket::AF_INET
      if (@addr = in_addr(address.to_s))
        @family = Socket::AF_INET
      end
    end
    if !@addr && (family == Socket::AF_UNSPEC || family == Socket::AF_INET6)
      @addr = in6_addr(address.to_s)
      @family = Socket::AF_INET6
    end
    @zone_id = zone
    if family != Socket::AF_UNSPEC && @family != family
      raise AddressFamilyError, "unsupported address family: #{@family}"
    end
    prefix ? mask!(prefix) : @mask_addr = full_mask
  end

  def &(other) = clone.set(@addr & integer_of(other))
  def |(other) = clone.set(@addr | integer_of(other))
  def >>(bits) = clone.set(@addr >> bits)
  def <<(bits) = clone.set((@addr << bits) & full_mask)
  def ~ = clone.set(~@addr & full_mask)

  def ==(other)
    other = coerce_other(other)
  rescue StandardError
    false
  else
    @family == other.family && @addr == other.to_i
  end

  def mask(prefix) = clone.mask!(prefix)

  def include?(other)
    other = coerce_other(other)
    return false unless other.family == family
    first, last = bounds
    other_first, other_last = other.bounds
    first <= other_first && last >= other_last
  end
  alias === include?

  def to_i = @addr

  def to_s
    text = to_string
    return text if ipv4?
    text = text.gsub(/\b0{1,3}([\da-f]+)\b/i, '\1')
    8.downto(2) do |n|
      break if text.sub!(/(?:\A|:)#{(["0"] * n).join(":")}(?:\z|:)/, "::")
    end
    if text =~ /\A::(ffff:)?([\da-f]{1,4}):([\da-f]{1,4})\z/i
      text = format("::%s%d.%d.%d.%d", $1, $2.hex / 256, $2.hex % 256, $3.hex / 256, $3.hex % 256)
    end
    text + @zone_id.to_s
  end

  def to_string
    text = spell(@addr)
    ipv6? ? text + @zone_id.to_s : text
  end

  def hton
    ipv4? ? [@addr].pack("N") : (0..7).map { |i| (@addr >> (112 - 16 * i)) & 0xffff }.pack("n8")
  end

  def ipv4? = @family == Socket::AF_INET
  def ipv6? = @family == Socket::AF_INET6

  def loopback?
    return @addr & 0xff000000 == 0x7f000000 if ipv4?
    @addr == 1 || (@addr & 0xffff_0000_0000 == 0xffff_0000_0000 && @addr & 0xff000000 == 0x7f000000)
  end

  def private?
    return @addr & (0xfe << 120) == 0xfc << 120 if ipv6?
    @addr & 0xff000000 == 0x0a000000 || @addr & 0xfff00000 == 0xac100000 || @addr & 0xffff0000 == 0xc0a80000
  end

  def link_local?
    ipv4? ? @addr & 0xffff0000 == 0xa9fe0000 : @addr & (0xffc0 << 112) == 0xfe80 << 112
  end

  def ipv4_mapped?
    ipv6? && @addr >> 32 == 0xffff
  end

  def ipv4_compat?
    ipv6? && @addr >> 32 == 0 && @addr & IN4MASK != 0 && @addr & IN4MASK != 1
  end

  def ipv4_mapped
    raise InvalidAddressError, "not an IPv4 address: #{@addr}" unless ipv4?
    clone.set(@addr | 0xffff00000000, Socket::AF_INET6).widen(@mask_addr)
  end

  def ipv4_compat
    raise InvalidAddressError, "not an IPv4 address: #{@addr}" unless ipv4?
    clone.set(@addr, Socket::AF_INET6)
  end

  def native
    return self unless ipv4_mapped? || ipv4_compat?
    clone.set(@addr & IN4MASK, Socket::AF_INET).widen(nil)
  end

  def reverse
    case @family
    when Socket::AF_INET then reversed + ".in-addr.arpa"
    else ip6_arpa
    end
  end

  def ip6_arpa
    raise InvalidAddressError, "not an IPv6 address: #{@addr}" unless ipv6?
    reversed + ".ip6.arpa"
  end

  def ip6_int
    raise InvalidAddressError, "not an IPv6 address: #{@addr}" unless ipv6?
    reversed + ".ip6.int"
  end

  def succ = clone.set(@addr + 1, @family)

  def <=>(other)
    other = coerce_other(other)
  rescue StandardError
    nil
  else
    @addr <=> other.to_i if other.family == @family
  end
  include Comparable

  def eql?(other) = self.class == other.class && hash == other.hash && self == other
  def hash = ([@addr, @mask_addr].hash << 1) | (ipv4? ? 0 : 1)

  def to_range
    first, last = bounds
    one = ->(n) { self.class.new(n, @family) }
    one.(first)..one.(last)
  end

  def prefix
    bits = ipv4? ? 32 : 128
    zeros = full_mask ^ @mask_addr
    while zeros.positive?
      zeros >>= 1
      bits -= 1
    end
    bits
  end

  def prefix=(prefix)
    raise InvalidPrefixError, "prefix must be an integer: #{@addr}" unless prefix.is_a?(Integer)
    mask!(prefix)
  end

  def netmask = spell(@mask_addr)

  def zone_id
    raise InvalidAddressError, "not an IPv6 address" unless ipv6?
    @zone_id
  end

  def zone_id=(zone)
    raise InvalidAddressError, "not an IPv6 address" unless ipv6?
    raise InvalidAddressError, "invalid zone identifier for address" unless zone.nil? || zone =~ /\A%(\w+)\z/
    @zone_id = zone
  end

  def inspect
    zone = ipv6? ? @zone_id.to_s : ""
    format("#<%s: %s:%s%s/%s>", self.class.name, ipv4? ? "IPv4" : "IPv6", spell(@addr), zone, spell(@mask_addr))
  end

  protected

  def bounds
    [@addr & @mask_addr, @addr | (full_mask ^ @mask_addr)]
  end

  def begin_addr = @addr & @mask_addr
  def end_addr = bounds[1]

  def set(addr, *family)
    wanted = family[0] || @family
    limit = wanted == Socket::AF_INET ? IN4MASK : IN6MASK
    raise InvalidAddressError, "invalid address: #{@addr}" if addr.negative? || addr > limit
    @addr = addr
    @family = wanted
    self
  end

  def widen(mask)
    @mask_addr = mask ? (IN6MASK ^ IN4MASK) | mask : IN4MASK
    self
  end

  def mask!(mask)
    case mask
    when String
      case mask
      when /\A(0|[1-9]+\d*)\z/ then length = mask.to_i
      when /\A\d+\z/ then raise InvalidPrefixError, "leading zeros in prefix"
      else
        other = IPAddr.new(mask)
        raise InvalidPrefixError, "address family is not same: #{@addr}" if other.family != @family
        value = other.to_i
        holes = value ^ full_mask
        raise InvalidPrefixError, "invalid mask #{mask}: #{@addr}" if holes.positive? && (holes + 1) & holes != 0
        @mask_addr = value
        @addr &= value
        return self
      end
    else length = mask
    end
    bits = ipv4? ? 32 : 128
    raise InvalidPrefixError, "invalid length: #{@addr}" if length.negative? || length > bits
    @mask_addr = (full_mask >> (bits - length)) << (bits - length)
    @addr &= @mask_addr
    self
  end

  private

  def full_mask = ipv4? ? IN4MASK : IN6MASK

  def spell(number)
    if ipv4?
      (0..3).map { |i| (number >> (24 - 8 * i)) & 0xff }.join(".")
    else
      format(IN6FORMAT, *(0..7).map { |i| (number >> (112 - 16 * i)) & 0xffff })
    end
  end

  def reversed
    ipv4? ? spell(@addr).split(".").reverse.join(".") : format("%.32x", @addr).reverse.chars.join(".")
  end

  def coerce_other(other)
    case other
    when IPAddr then other
    when String then self.class.new(other)
    else self.class.new(other, @family)
    end
  end

  def integer_of(other) = coerce_other(other).to_i

  def in_addr(text)
    return nil unless text =~ RE_IPV4ADDRLIKE
    octets([$1, $2, $3, $4])
  end

  def octets(texts)
    texts.inject(0) do |sum, text|
      raise InvalidAddressError, "invalid address: #{@addr}" if text.to_i > 255
      if text.size > 1 && text.start_with?("0")
        raise InvalidAddressError, "zero-filled number in IPv4 address is ambiguous: #{@addr}"
      end
      sum << 8 | text.to_i
    end
  end

  def in6_addr(left)
    case left
    when RE_IPV6ADDRLIKE_FULL
      if $2
        tail = octets([$2, $3, $4, $5])
        left = $1 + ":"
      else
        tail = 0
      end
      right = ""
    when RE_IPV6ADDRLIKE_COMPRESSED
      if $4
        left.count(":") <= 6 or raise InvalidAddressError, "invalid address: #{@addr}"
        tail = octets($~[3, 4])
        left, right = $1, $2.sub(/[^:]*\z/, "0:0")
      else
        left.count(":") <= ($1.empty? || $2.empty? ? 8 : 7) or raise InvalidAddressError, "invalid address: #{@addr}"
        left, right = $1, $2
        tail = 0
      end
    else
      raise InvalidAddressError, "invalid address: #{@addr}"
    end
    head = left.split(":")
    rest = right.split(":")
    rest = head + ["0"] * [8 - head.size - rest.size, 0].max + rest
    rest.inject(0) { |sum, part| sum << 16 | part.hex } | tail
  end
end
