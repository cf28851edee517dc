class StringScanner
  class Error < StandardError; end
  Version = "3.0.1"
  Id = "$Id$"
  def self.must_C_version = self
  attr_reader :string
  def initialize(s, *_, fixed_anchor: false) = (@string = s.to_str; @pos = 0; @m = nil; @fixed = fixed_anchor)
  def fixed_anchor? = !!@fixed
  def string=(s)
    @string = s.to_str
    reset
    s
  end
  def pos = @pos
  alias pointer pos
  def pos=(n)
    n += @string.bytesize if n < 0
    raise RangeError, "index out of range" if n < 0 || n > @string.bytesize
    @pos = n
  end
  alias pointer= pos=
  def charpos = @string.byteslice(0, @pos).size
  def concat(s) = (@string << String.__str(s); self)
  alias << concat
  def reset = (@pos = 0; @m = nil; self)
  def terminate = (@pos = @string.bytesize; @m = nil; self)
  alias clear terminate
  def rest? = !eos?
  def rest = @string.byteslice(@pos, @string.bytesize) || ""
  def rest_size = [@string.bytesize - @pos, 0].max
  def bol? = @pos == 0 || @string.getbyte(@pos - 1) == 10
  alias beginning_of_line? bol?
  def scan_until(p) = __do(__pattern(p), false, true, true)
  def skip_until(p) = __do(__pattern(p), false, true, false)
  def check_until(p) = __do(__pattern(p), false, false, true)
  def exist?(p) = __do(__pattern(p), false, false, false)
  def search_full(p, adv, ret) = __do(__pattern(p), false, adv, ret)
  def scan_full(p, adv, ret) = __do(p, true, adv, ret)
  private def __pattern(p)
    raise TypeError, "wrong argument type #{p.class} (expected Regexp)" unless Regexp === p
    p
  end
  def getch = scan(/./m)
  def get_byte
    return (@m = nil) if eos?
    @prev = @pos
    @m = [@pos, @pos += 1]
    @re = nil
    @string.byteslice(@prev, 1)
  end
  alias getbyte get_byte
  def peek(n)
    raise ArgumentError, "negative string size (or size too big)" if n < 0
    @string.byteslice(@pos, n) || ""
  end
  alias peep peek
  def unscan
    raise ScanError_, "unscan error: previous match record not exist" unless @m
    @pos = @prev
    @m = nil
    self
  end
  ScanError_ = Error
  def matched = @m && @string.byteslice(@m[0], @m[1] - @m[0])
  def matched? = !@m.nil?
  def matched_size = @m && @m[1] - @m[0]
  private def __aref(i)
    return nil unless @m
    unless Integer === i
      numbers = @re.named_captures[i.to_s] if Regexp === @re && (String === i || Symbol === i)
      return self[Array.__to_int(i)] unless numbers || String === i || Symbol === i
      raise IndexError, "undefined group name reference: #{i}" unless numbers
      i = numbers.reverse.find { |x| @m[2 * x] } || numbers[0]
    end
    i += size if i < 0
    from = i < 0 ? nil : @m[2 * i]
    from && @string.byteslice(from, @m[2 * i + 1] - from)
  end
  def pre_match = @m && @string.byteslice(0, @m[0])
  def post_match = @m && @string.byteslice(@m[1], @string.bytesize)
  def size = @m && @m.size / 2
  # A group that took no part is an empty text here.
  def captures = @m && (1...size).map { |i| self[i] || "" }
  def values_at(*i) = @m && i.map { |x| self[x] }
  def named_captures = @m && Regexp === @re ? @re.names.to_h { |name| [name, self[name]] } : {}
  def inspect
    return "#<StringScanner fin>" if eos?
    a = rest
    after = a.bytesize > 5 ? a.byteslice(0, 5) + "..." : a
    return "#<StringScanner #{@pos}/#{@string.bytesize} @ #{after.inspect}>" if @pos == 0
    b = @string.byteslice(0, @pos)
    before = b.bytesize > 5 ? "..." + b.byteslice(-5, 5) : b
    "#<StringScanner #{@pos}/#{@string.bytesize} #{before.inspect} @ #{after.inspect}>"
  end
end
