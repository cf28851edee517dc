class StringScanner
  class Error < StandardError; end
  Version = "3.0.1"
  Id = "$Id$"
  def self.must_C_version = self
  attr_reader :string
  def initialize(s, *_, fixed_anchor: false) = (@string = s.to_str; @pos = 0; @m = nil; @last = 0; @fixed = fixed_anchor)
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
  def concat(s) = (@string << s; self)
  alias << concat
  def reset = (@pos = 0; @m = nil; self)
  def terminate = (@pos = @string.bytesize; @m = nil; self)
  alias clear terminate
  def eos? = @pos >= @string.bytesize
  def rest? = !eos?
  def rest = @string.byteslice(@pos, @string.bytesize) || ""
  def rest_size = [@string.bytesize - @pos, 0].max
  def bol? = @pos == 0 || @string.getbyte(@pos - 1) == 10
  alias beginning_of_line? bol?
  def __do(pat, anchored, advance, ret)
    if String === pat
      hit = anchored ? (rest.start_with?(pat) ? 0 : nil) : rest.b.index(pat.b)
      return (@m = nil) unless hit
      @m = [pat]
      @b, @e = @pos + hit, @pos + hit + pat.bytesize
    else
      raise TypeError, "wrong argument type #{pat.class} (expected Regexp)" unless Regexp === pat
      if @fixed
        m = anchored ? pat.__match_at(@string, @pos) : pat.__search(@string, @pos)
        off = 0
      else
        m = anchored ? pat.__match_at(rest, 0) : pat.__search(rest, 0)
        off = @pos
      end
      return (@m = nil) unless m
      @m = m
      @b, @e = off + m.__byte_begin(0), off + m.__byte_end(0)
    end
    @prev = @pos
    from = @pos
    @end = @e
    @pos = @e if advance
    ret == :str ? @string.byteslice(from, @e - from) : @e - from
  end
  private :__do
  def scan(p) = __do(p, true, true, :str)
  def match?(p) = __do(p, true, false, :len)
  def skip(p) = __do(p, true, true, :len)
  def check(p) = __do(p, true, false, :str)
  def scan_until(p) = __do(p, false, true, :str)
  def skip_until(p) = __do(p, false, true, :len)
  def check_until(p) = __do(p, false, false, :str)
  def exist?(p) = __do(p, false, false, :len)
  def search_full(p, adv, ret) = __do(p, false, adv, ret ? :str : :len)
  def scan_full(p, adv, ret) = __do(p, true, adv, ret ? :str : :len)
  def getch = scan(/./m)
  def get_byte
    return (@m = nil) if eos?
    s = @string.byteslice(@pos, 1)
    @prev = @pos
    @b, @e = @pos, @pos + 1
    @pos += 1
    @m = [s]
    s
  end
  alias getbyte get_byte
  def peek(n) = @string.byteslice(@pos, n) || ""
  alias peep peek
  def unscan
    raise ScanError_, "unscan error: previous match record not exist" unless @m
    @pos = @prev
    @m = nil
    self
  end
  ScanError_ = Error
  def matched = @m && @string.byteslice(@b, @e - @b)
  def matched? = !@m.nil?
  def matched_size = @m && @e - @b
  def [](i)
    return nil unless @m
    return Array === @m ? (Integer === i ? @m[i] : raise(IndexError, "undefined group name reference: #{i}")) : @m[i]
  end
  def pre_match = @m && @string.byteslice(0, @b)
  def post_match = @m && @string.byteslice(@e, @string.bytesize)
  def size = @m && @m.size
  def captures = @m && (Array === @m ? [] : @m.captures)
  def values_at(*i) = @m && i.map { |x| self[x] }
  def named_captures = @m && !(Array === @m) ? @m.named_captures : {}
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
