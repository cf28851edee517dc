class Array
  def self.__to_int(v)
    return v if Integer === v
    raise TypeError, "no implicit conversion from nil to integer" if v.nil?
    unless v.respond_to?(:to_int)
      raise TypeError, "no implicit conversion of #{v == true || v == false ? v : v.class} into Integer"
    end
    r = v.to_int
    raise TypeError, "can't convert #{v.class} to Integer (#{v.class}#to_int gives #{r.class})" unless Integer === r
    r
  end
  def __bang(new)
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    replace(new)
    self
  end
  private :__bang
  def __map!(&b)
    return to_enum(:map!).__set_size(size) unless b
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    i = 0
    while i < size
      self[i] = b.call(self[i])
      i += 1
    end
    self
  end
  def collect!(&b) = b ? map!(&b) : to_enum(:collect!).__set_size(size)
  def sort_by!(&b) = b ? __bang(sort_by(&b)) : to_enum(:sort_by!).__set_size(size)
  def uniq!(&b)
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    n = uniq(&b)
    n.size == size ? nil : __bang(n)
  end
  def compact!
    n = compact
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    n.size == size ? nil : __bang(n)
  end
  def shuffle!(random: nil) = __bang(shuffle(random: random))
  def shuffle(random: nil)
    return __shuffle unless random
    a = dup.to_a
    (a.size - 1).downto(1) do |i|
      j = Array.__to_int(random.rand(i + 1))
      raise RangeError, "random number too small #{j}" if j < 0
      raise RangeError, "random number too big #{j}" if j > i
      a[i], a[j] = a[j], a[i]
    end
    Array.new(a)
  end
  def sample(*n, random: nil)
    if n.empty?
      return nil if empty?
      j = random ? Array.__to_int(random.rand(size)) : Kernel.rand(size)
      raise RangeError, "random number too small #{j}" if j < 0
      raise RangeError, "random number too big #{j}" if j >= size
      return self[j]
    end
    k = Array.__to_int(n[0])
    raise ArgumentError, "negative sample number" if k < 0
    shuffle(random: random).take(k)
  end
  def rotate(n = 1)
    return [] if empty?
    n = Array.__to_int(n) % size
    self.to_a[n..] + self.to_a[0, n]
  end
  def rotate!(n = 1)
    n = Array.__to_int(n)
    __bang(empty? ? [] : rotate(n))
  end
  def take(n)
    n = Array.__to_int(n)
    raise ArgumentError, "attempt to take negative size" if n < 0
    self.to_a[0, n]
  end
  def drop(n)
    n = Array.__to_int(n)
    raise ArgumentError, "attempt to drop negative size" if n < 0
    self.to_a[n..] || []
  end
  def __take_while
    return to_enum(:take_while) unless block_given?
    r = []
    each { |v| break unless yield(v); r << v }
    r
  end
  def drop_while
    return to_enum(:drop_while) unless block_given?
    i = 0
    i += 1 while i < size && yield(self[i])
    self.to_a[i..]
  end
  def values_at(*idx)
    r = []
    idx.each do |i|
      if Range === i
        b = i.begin.nil? ? 0 : Array.__to_int(i.begin)
        e = i.end.nil? ? size - 1 : Array.__to_int(i.end)
        b += size if b < 0
        next if b < 0 || b > size
        e += size if e < 0
        e -= 1 if i.exclude_end? && !i.end.nil?
        b.upto(e) { |j| r << self[j] }
      else
        r << self[Array.__to_int(i)]
      end
    end
    r
  end
  def __fetch(i, *d)
    raise ArgumentError, "wrong number of arguments (given #{d.size + 1}, expected 1..2)" if d.size > 1
    __note("block supersedes default value argument", false) if block_given? && !d.empty?
    o = i
    i = Array.__to_int(i)
    j = i < 0 ? i + size : i
    return self[j] if j >= 0 && j < size
    return yield(o) if block_given?
    return d[0] unless d.empty?
    raise IndexError, "index #{i} outside of array bounds: #{-size}...#{size}"
  end
  def dig(i, *rest)
    v = self[i]
    return v if rest.empty? || v.nil?
    raise TypeError, "#{v.class} does not have #dig method" unless v.respond_to?(:dig)
    v.dig(*rest)
  end
  def assoc(k)
    each { |v| a = Array.try_convert(v); return a if a && a[0] == k }
    nil
  end
  def rassoc(k)
    each { |v| return v if Array === v && v.size > 1 && v[1] == k }
    nil
  end
  def __count(*a)
    return size if a.empty? && !block_given?
    __note("given block not used", false) if block_given? && !a.empty?
    n = 0
    if a.empty? then each { |v| n += 1 if yield(v) } else each { |v| n += 1 if v == a[0] } end
    n
  end
  def rindex(*a)
    return to_enum(:rindex) if a.empty? && !block_given?
    __note("given block not used", false) if block_given? && !a.empty?
    i = size - 1
    while i >= 0
      if i >= size then i = size - 1; next end
      return i if a.empty? ? yield(self[i]) : self[i] == a[0]
      i -= 1
    end
    nil
  end
  def transpose
    return [] if empty?
    rows = map { |r| Array.try_convert(r) || raise(TypeError, "no implicit conversion of #{r.class} into Array") }
    n = rows[0].size
    rows.each { |r| raise IndexError, "element size differs (#{r.size} should be #{n})" if r.size != n }
    Array.new(n) { |i| rows.map { |r| r[i] } }
  end
  def __zip(*others)
    lists = others.map do |o|
      Array.try_convert(o) || (o.respond_to?(:each) ? o.to_enum(:each).first(size) :
        raise(TypeError, "wrong argument type #{o.class} (must respond to :each)"))
    end
    r = []
    each_with_index { |v, i| r << [v, *lists.map { |l| l[i] }] }
    return r unless block_given?
    r.each { |v| yield v }
    nil
  end
  def product(*lists)
    lists = lists.map do |l|
      Array.try_convert(l) || raise(TypeError, "no implicit conversion of #{l.class} into Array")
    end
    total = lists.inject(size) { |a, l| a * l.size }
    raise RangeError, "too big to product" if total > 100_000_000
    r = map { |v| [v] }
    lists.each { |l| r = r.flat_map { |p| l.map { |v| p + [v] } } }
    return r unless block_given?
    r.each { |v| yield v }
    self
  end
  def combination(n)
    n = Array.__to_int(n)
    unless block_given?
      ways = n < 0 || n > size ? 0 : (0...n).inject(1) { |a, i| a * (size - i) / (i + 1) }
      return to_enum(:combination, n).__set_size(ways)
    end
    return self if n < 0 || n > size
    a = dup
    idx = (0...n).to_a
    loop do
      yield idx.map { |i| a[i] }
      i = n - 1
      i -= 1 while i >= 0 && idx[i] == a.size - n + i
      break if i < 0
      idx[i] += 1
      (i + 1).upto(n - 1) { |j| idx[j] = idx[j - 1] + 1 }
    end
    self
  end
  def permutation(n = (all = true; size), &b)
    n = n.nil? ? size : Array.__to_int(n)
    unless b
      sz = n < 0 || n > size ? 0 : (0...n).inject(1) { |a, i| a * (size - i) }
      return (all ? to_enum(:permutation) : to_enum(:permutation, n)).__set_size(sz)
    end
    return self if n < 0 || n > size
    __perm(dup, n, [], [], b)
    self
  end
  def __perm(a, n, cur, used, b)
    return b.call(cur.dup) if cur.size == n
    a.each_index do |i|
      next if used[i]
      used[i] = true
      cur.push(a[i])
      __perm(a, n, cur, used, b)
      cur.pop
      used[i] = false
    end
  end
  private :__perm
  def repeated_combination(n, &b)
    n = Array.__to_int(n)
    unless b
      k = n < 0 ? 0 : (n == 0 ? 1 : (size == 0 ? 0 : (0...n).inject(1) { |a, i| a * (size + i) / (i + 1) }))
      return to_enum(:repeated_combination, n).__set_size(k)
    end
    return self if n < 0
    a = dup
    go = ->(start, cur) { cur.size == n ? b.call(cur) : (start...a.size).each { |i| go.(i, cur + [a[i]]) } }
    go.(0, [])
    self
  end
  def repeated_permutation(n, &b)
    n = Array.__to_int(n)
    return to_enum(:repeated_permutation, n).__set_size(n < 0 ? 0 : size**n) unless b
    return self if n < 0
    a = dup
    go = ->(cur) { cur.size == n ? b.call(cur) : a.each { |v| go.(cur + [v]) } }
    go.([])
    self
  end
  def slice!(i, *len)
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    if len.empty? && !(Range === i)
      return delete_at(i)
    end
    r = len.empty? ? self[i] : self[i, len[0]]
    return r if r.nil?
    if len.empty?
      b = i.begin.nil? ? 0 : Array.__to_int(i.begin)
    else
      b = Array.__to_int(i)
    end
    b += size if b < 0
    n = r.size
    self[b, n] = [] if n > 0
    r
  end
  def bsearch(&b)
    return to_enum(:bsearch) unless b
    i = bsearch_index(&b)
    i && self[i]
  end
  def bsearch_index
    return to_enum(:bsearch_index) unless block_given?
    lo, hi, found = 0, size, nil
    while lo < hi
      mid = (lo + hi) / 2
      r = yield(self[mid])
      case r
      when true then found = mid; hi = mid
      when false, nil then lo = mid + 1
      when Numeric
        return mid if r == 0
        r < 0 ? hi = mid : lo = mid + 1
      else raise TypeError, "wrong argument type #{r.class} (must be numeric, true, false or nil)"
      end
    end
    found
  end
  def cycle(n = nil)
    unless block_given?
      return to_enum(:cycle, n).__set_size(n ? [Array.__to_int(n) * size, 0].max : (empty? ? 0 : Float::INFINITY))
    end
    unless n.nil?
      i = Array.__to_int(n)
      while i > 0 && !empty?
        each { |v| yield v }
        i -= 1
      end
    else
      until empty?
        each { |v| yield v }
      end
    end
    nil
  end
  def __min(*n, &b)
    return (b ? sort(&b) : sort).take(n[0]) unless n.empty? || n[0].nil?
    inject { |m, v| __order(v, m, b) < 0 ? v : m }
  end
  def __max(*n, &b)
    return (b ? sort(&b) : sort).reverse.take(n[0]) unless n.empty? || n[0].nil?
    inject { |m, v| __order(v, m, b) > 0 ? v : m }
  end
  def __to_h
    h = {}
    each_with_index { |v, i| __pair(h, v, i) }
    h
  end
  def __pair(h, v, i)
    a = Array.try_convert(v)
    raise TypeError, "wrong element type #{v.class} at #{i} (expected array)" unless a
    raise ArgumentError, "wrong array length at #{i} (expected 2, was #{a.size})" if a.size != 2
    h[a[0]] = a[1]
  end
  def union(*o) = o.inject(uniq) { |a, b| a | b }
  def difference(*o) = o.inject(Array.new(self)) { |a, b| a - b }
  def intersection(*o) = o.inject(uniq) { |a, b| a & b }
  def intersect?(o) = !(self & o).empty?
  def none?(*a, &b) = super
  def deconstruct = self
  def __filter_map
    return to_enum(:filter_map).__set_size(size) unless block_given?
    r = []
    each { |v| x = yield(v); r << x if x }
    r
  end
  def __flat_map
    return to_enum(:flat_map).__set_size(size) unless block_given?
    r = []
    each { |v| x = yield(v); (a = Array.try_convert(x)) ? r.concat(a) : r << x }
    r
  end
  def __fill(*args)
    if block_given?
      raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 0..2)" if args.size > 2
      from, len = args
    else
      raise ArgumentError, "wrong number of arguments (given 0, expected 1..3)" if args.empty?
      v, from, len = args
    end
    if Range === from && len.nil?
      b = from.begin.nil? ? 0 : Array.__to_int(from.begin)
      e = from.end.nil? ? size - 1 : Array.__to_int(from.end)
      b += size if b < 0
      raise RangeError, "#{from.inspect} out of range" if b < 0
      e += size if e < 0
      e -= 1 if from.exclude_end? && !from.end.nil?
      n = e - b + 1
    else
      b = from.nil? ? 0 : Array.__to_int(from)
      b += size if b < 0
      b = 0 if b < 0
      n = len.nil? ? size - b : Array.__to_int(len)
    end
    return self if n <= 0
    raise ArgumentError, "argument too big" if b + n > 1 << 40
    __resize(b + n) if b + n > size
    b.upto(b + n - 1) { |i| self[i] = block_given? ? yield(i) : v }
    self
  end
  def __slice_seq(seq)
    b, e, s, x = seq.begin, seq.end, seq.step, seq.exclude_end?
    list = self[Range.new(b, e, x)]
    if s < 0
      list = self[Range.new(e, b, false)]&.reverse if e || b
      list ||= reverse
    end
    raise RangeError, "((#{b}..#{e}).%(#{s})) out of range" if list.nil?
    r = []
    list.each_with_index { |v, i| r << v if i % s.abs == 0 }
    r
  end
  private :__count, :__take_while, :__flat_map, :__filter_map, :__to_h, :__fetch, :__map!, :__min, :__max, :__zip,
    :__pair
end
