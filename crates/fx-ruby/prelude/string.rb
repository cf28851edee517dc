class String
  def self.__str(v)
    return v if String === v
    return v.to_str if v.respond_to?(:to_str)
    name = v.nil? ? "nil" : v == true || v == false ? v : v.class
    raise TypeError, "no implicit conversion of #{name} into String"
  end
  %i[
    upcase downcase capitalize swapcase reverse strip lstrip rstrip succ next squeeze tr tr_s
    delete chomp chop unicode_normalize encode scrub delete_prefix delete_suffix
  ].each do |m|
    define_method(:"#{m}!") do |*a, **k, &b|
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      r = __set(k.empty? ? __send__(m, *a, &b) : __send__(m, *a, **k, &b))
      %i[reverse succ next unicode_normalize encode scrub].include?(m) ? self : r
    end
  end
  def chomp(sep = $/) = __chomp(sep)
  def chop
    return dup.to_s if empty?
    end_with?("\r\n") ? self.to_s[0...-2] : String.new(self[0...-1])
  end
  def chr = self[0] || ""
  def lines(sep = $/, chomp: false, &b)
    r = __lines(sep, chomp)
    return r unless b
    r.each(&b)
    self
  end
  def each_line(sep = $/, chomp: false)
    return to_enum(:each_line, sep, chomp: chomp) unless block_given?
    __lines(sep, chomp).each { |l| yield l }
    self
  end
  def each_byte
    return to_enum(:each_byte).__set_size(bytesize) unless block_given?
    i = 0
    while i < bytesize
      yield getbyte(i)
      i += 1
    end
    self
  end
  def each_codepoint
    return to_enum(:each_codepoint).__set_size(size) unless block_given?
    codepoints.each { |c| yield c }
    self
  end
  def each_grapheme_cluster
    return to_enum(:each_grapheme_cluster).__set_size(grapheme_clusters.size) unless block_given?
    grapheme_clusters.each { |c| yield c }
    self
  end
  def grapheme_clusters(&b)
    r = scan(/\X/m)
    b ? (r.each(&b); self) : r
  end
  def __partition(pat)
    s = pat.respond_to?(:to_str) ? pat.to_str : raise(TypeError, "type mismatch: #{pat.class} given")
    i = index(s)
    i ? [String.new(self[0, i]), s.dup, String.new(self[(i + s.size)..])] : [String.new(self), "", ""]
  end
  def __rpartition(pat)
    s = pat.respond_to?(:to_str) ? pat.to_str : raise(TypeError, "type mismatch: #{pat.class} given")
    i = rindex(s)
    i ? [String.new(self[0, i]), s.dup, String.new(self[(i + s.size)..])] : ["", "", String.new(self)]
  end
  def delete_prefix(p)
    p = p.to_str unless String === p
    start_with?(p) ? String.new(self[p.size..]) : String.new(self)
  end
  def delete_suffix(s)
    s = s.to_str unless String === s
    end_with?(s) ? String.new(self[0, size - s.size]) : String.new(self)
  end
  def prepend(*o)
    raise FrozenError.new("can't modify frozen String: #{inspect}", receiver: self) if frozen?
    texts = o.map do |x|
      next x.to_str if x.respond_to?(:to_str)
      raise TypeError, "no implicit conversion of #{x.nil? ? "nil" : x.class} into String"
    end
    replace(texts.join + self)
  end
  def clear = replace("".encode(encoding))
  def __cut(*a)
    if a.size == 1 && Integer === a[0] || a.size == 2 || Range === a[0] || Regexp === a[0] || String === a[0]
      a.size == 1 && String === a[0] ? (self[a[0]] = "") : (self[*a] = "")
    else
      self[a[0]] = ""
    end
  end
  def upto(last, excl = false)
    return to_enum(:upto, last, excl) unless block_given?
    last = Process.__str(last)
    if size == 1 && last.size == 1 && ascii_only? && last.ascii_only?
      a, b = ord, last.ord
      b -= 1 if excl
      a.upto(b) { |c| yield c.chr.force_encoding(encoding) }
      return self
    end
    if match?(/\A\d+\z/) && last.match?(/\A\d+\z/) && (size <= last.size)
      w = size
      i, e = to_i, last.to_i
      while excl ? i < e : i <= e
        yield i.to_s.rjust(w, "0")
        i += 1
      end
      return self
    end
    return self if size > last.size || (size == last.size && self > last)
    cur = String.new(self)
    loop do
      break if excl && cur == last
      nxt = cur.succ
      yield cur
      break if cur == last || nxt.size > last.size || cur.empty?
      cur = nxt
    end
    self
  end
  def between?(a, b) = self >= a && self <= b
  def unpack1(f, offset: 0) = unpack(f, offset: offset).first
  def to_c = Complex.__parse(self)
  def to_r = Rational.__parse(self)
  def undump
    raise Encoding::CompatibilityError, "ASCII incompatible encoding: #{encoding}" unless encoding.ascii_compatible?
    raise RuntimeError, "non-ASCII character detected at undumping" unless ascii_only?
    raise RuntimeError, "string contains null byte" if include?("\0")
    unless start_with?('"')
      raise RuntimeError, 'invalid dumped string; not wrapped with \'"\' nor \'"...".force_encoding("...")\' form'
    end
    raise RuntimeError, "unterminated dumped string" unless (m = /\A"((?:[^"\\]|\\.)*)"/m.match(self))
    rest = m.post_match
    enc = encoding
    unless rest.empty?
      unless rest.start_with?(".")
        raise RuntimeError, 'invalid dumped string; not wrapped with \'"\' nor \'"...".force_encoding("...")\' form'
      end
      unless (f = /\A\.(?:dup\.)?force_encoding\("([^"]*)"\)\z/.match(rest))
        raise RuntimeError, "unterminated dumped string"
      end
      enc = Encoding.find(f[1])
    end
    wide = hex = false
    out = m[1].b.gsub(/\\(?:u(?:\{([^}]*)\}|(\h{0,4}))|x(\h{0,2})|([0-7]{1,3})|(.))/mn) do
      if $1 || $2
        raise RuntimeError, "invalid Unicode escape" if $1 ? !$1.match?(/\A\h+\z/) : $2.size < 4
        raise RuntimeError, "hex escape and Unicode escape are mixed" if hex
        wide = true
        [($1 || $2).hex].pack("U").b
      elsif $3
        raise RuntimeError, "invalid hex escape" if $3.size < 2
        raise RuntimeError, "hex escape and Unicode escape are mixed" if wide
        hex = true
        $3.hex.chr.b
      elsif $4 then $4.oct.chr.b
      else
        {
          "n" => "\n", "t" => "\t", "r" => "\r", "e" => "\e", "a" => "\a", "b" => "\b", "f" => "\f", "v" => "\v"
        }[$5] || $5
      end
    end
    out.force_encoding(wide && enc == Encoding::US_ASCII ? Encoding::UTF_8 : enc)
  end
  def bytesplice(i, n, s) = (self[0, 0] = ""; replace(byteslice(0, i) + s + byteslice(i + n, bytesize)))
  def byterindex(s, from = bytesize) = byteslice(0, from + s.bytesize).rindex(s)
end
