# OpenSSL::BN: an Integer with OpenSSL's manners.
module OpenSSL
  class BN
    include Comparable
    attr_reader :to_i
    alias to_int to_i
    def initialize(v, base = 10)
      @to_i =
        case v
        when BN then v.to_i
        when Integer then v
        else
          case base
          when 2 then v.unpack1("H*").to_i(16)
          when 0 then v.byteslice(4..).unpack1("H*").to_i(16)
          else v.to_i(base)
          end
        end
    end
    def to_s(base = 10)
      case base
      when 2 then (h = @to_i.abs.to_s(16); h = "0#{h}" if h.size.odd?; @to_i.zero? ? "".b : [h].pack("H*"))
      when 16 then (h = @to_i.abs.to_s(16).upcase; h = "0#{h}" if h.size.odd?; (@to_i < 0 ? "-" : "") + h)
      else @to_i.to_s(base)
      end
    end
    def to_bn = self
    def num_bits = @to_i.abs.bit_length
    def num_bytes = (num_bits + 7) / 8
    def zero? = @to_i.zero?
    def one? = @to_i == 1
    def odd? = @to_i.odd?
    def negative? = @to_i < 0
    def bit_set?(n) = @to_i[n] == 1
    def hash = @to_i.hash
    def eql?(o) = BN === o && o.to_i == @to_i
    def ==(o) = (o.respond_to?(:to_i) && !(String === o)) ? @to_i == o.to_i : false
    def <=>(o) = @to_i <=> o.to_i
    alias cmp <=>
    def ucmp(o) = @to_i.abs <=> o.to_i.abs
    def coerce(o) = [o, @to_i]
    %i[+ - * % << >>].each { |op| define_method(op) { |o| BN.new(@to_i.__send__(op, o.to_i)) } }
    def /(o) = @to_i.divmod(o.to_i).map { |x| BN.new(x) }
    def **(o) = BN.new(@to_i**o.to_i)
    def -@ = BN.new(-@to_i)
    def +@ = self
    def sqr = BN.new(@to_i * @to_i)
    def gcd(o) = BN.new(@to_i.gcd(o.to_i))
    def mod_exp(e, m) = BN.new(@to_i.pow(e.to_i, m.to_i))
    def mod_add(o, m) = BN.new((@to_i + o.to_i) % m.to_i)
    def mod_sub(o, m) = BN.new((@to_i - o.to_i) % m.to_i)
    def mod_mul(o, m) = BN.new((@to_i * o.to_i) % m.to_i)
    def self.rand(bits, _top = 0, _odd = false)
      BN.new(SecureRandom.random_number(1 << bits) | (1 << (bits - 1)))
    end
    def self.rand_range(n) = BN.new(SecureRandom.random_number(n.to_i))
    def inspect = "#<OpenSSL::BN #{@to_i}>"
  end
end
class Integer
  def to_bn = OpenSSL::BN.new(self)
end
require "securerandom"
