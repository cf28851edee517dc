module SecureRandom
  class << self
    def bytes(n = nil)
      n = n.nil? ? 16 : Array.__to_int(n)
      raise ArgumentError, "negative string size (or size too big)" if n < 0
      Random.urandom(n)
    end
    def random_bytes(n = nil) = bytes(n)
    def gen_random(n) = bytes(n)
    def hex(n = nil) = bytes(n).unpack1("H*").force_encoding("US-ASCII")
    def base64(n = nil) = [bytes(n)].pack("m0")
    def urlsafe_base64(n = nil, pad = false) = (s = base64(n).tr("+/", "-_"); pad ? s : s.delete("="))
    def uuid
      b = bytes(16).unpack("NnnnnN")
      b[2] = (b[2] & 0x0fff) | 0x4000
      b[3] = (b[3] & 0x3fff) | 0x8000
      "%08x-%04x-%04x-%04x-%04x%08x" % b
    end
    def __r(n) = (b = bytes(8).unpack1("Q"); b % n)
    def random_number(n = 0)
      case n
      when nil, 0 then bytes(8).unpack1("Q") / 2.0**64
      when Float then n > 0 ? bytes(8).unpack1("Q") / 2.0**64 * n : random_number
      when Range
        return n.begin + bytes(8).unpack1("Q") / 2.0**64 * (n.end - n.begin) if Float === n.begin || Float === n.end
        n.begin + __big(n.end - n.begin + (n.exclude_end? ? 0 : 1))
      else n < 0 ? random_number : __big(n)
      end
    end
    def __big(n) = n < 1 << 60 ? __r(n) : bytes(n.bit_length / 8 + 9).unpack1("H*").to_i(16) % n
    def rand(n = 0) = random_number(n)
    def alphanumeric(n = nil, chars: [*"A".."Z", *"a".."z", *"0".."9"])
      Array.new(n || 16) { chars[__r(chars.size)] }.join
    end
    def choose(s, n) = Array.new(n) { s[__r(s.size)] }.join
  end
end
