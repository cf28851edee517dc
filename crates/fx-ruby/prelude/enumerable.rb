module Enumerable
  def __pattern(list, block)
    raise ArgumentError, "wrong number of arguments (given #{list.size}, expected 0..1)" if list.size > 1
    __note("given block not used", false) if block
  end
  private :__pattern
  def __enum(m, *a, &size)
    e = to_enum(m, *a)
    e.__set_size(size ? size.call : (respond_to?(:size) ? size() : nil))
    e
  end
  private :__enum
  def __esize = respond_to?(:size) ? size : nil
  private :__esize
  def to_a(*args, **kw)
    r = []
    each(*args, **kw) { |*v| r << (v.size <= 1 ? v[0] : v) }
    r
  end
  alias entries to_a
  def to_h(*args)
    h = {}
    __each(*args) do |v|
      v = yield(v) if block_given?
      a = Array.try_convert(v)
      raise TypeError, "wrong element type #{v.class} (expected array)" unless a
      raise ArgumentError, "element has wrong array length (expected 2, was #{a.size})" unless a.size == 2
      h[a[0]] = a[1]
    end
    h
  end
  def to_set(klass = Set, *a, &b) = klass.new(self, *a, &b)
  def __map = __enum(:map) { __esize }
  def __collect = __enum(:collect) { __esize }
  def flat_map
    return __enum(__callee__) { __esize } unless block_given?
    r = []
    each { |*v| x = yield(*v); (a = Array.try_convert(x)) ? r.concat(a) : r << x }
    r
  end
  alias collect_concat flat_map
  def select
    return __enum(__callee__) { __esize } unless block_given?
    r = []
    __each { |v| r << v if yield(v) }
    r
  end
  alias filter select
  alias find_all select
  def filter_map
    return __enum(:filter_map) { __esize } unless block_given?
    r = []
    each { |*v| x = yield(*v); r << x if x }
    r
  end
  def reject
    return __enum(:reject) { __esize } unless block_given?
    r = []
    __each { |v| r << v unless yield(v) }
    r
  end
  def each_entry(*args)
    return __enum(:each_entry, *args) { __esize } unless block_given?
    __each(*args) { |v| yield v }
    self
  end
  def each_with_index(*args)
    return __enum(:each_with_index, *args) { __esize } unless block_given?
    i = -1
    __each(*args) { |v| yield v, (i += 1) }
    self
  end
  def __each_with_object(memo)
    return __enum(:each_with_object, memo) { __esize } unless block_given?
    __each { |v| yield v, memo }
    memo
  end
  def reverse_each(*args, &b)
    return __enum(:reverse_each, *args) { __esize } unless b
    to_a(*args).reverse.each(&b)
    self
  end
  def __find(*none)
    raise ArgumentError, "wrong number of arguments (given #{none.size}, expected 0..1)" if none.size > 1
    return __enum(:find, *none) { nil } unless block_given?
    ifnone = none[0]
    __each { |v| return v if yield(v) }
    ifnone ? ifnone.call : nil
  end
  def __detect(*none, &b) = b ? find(*none, &b) : __enum(:detect, *none) { nil }
  def find_index(*a)
    return __enum(:find_index) { nil } if a.empty? && !block_given?
    __note("given block not used", false) if block_given? && !a.empty?
    i = 0
    if a.empty?
      each { |*v| return i if yield(*v); i += 1 }
    else
      __each { |v| return i if v == a[0]; i += 1 }
    end
    nil
  end
  def first(*n)
    if n.empty?
      __each { |v| return v }
      return nil
    end
    take(__int(n[0], "attempt to take negative size"))
  end
  def __int(n, neg)
    n = Array.__to_int(n)
    raise ArgumentError, neg if n < 0
    n
  end
  private :__int
  def take(n)
    n = __int(n, "attempt to take negative size")
    r = []
    return r if n == 0
    __each { |v| r << v; break if r.size >= n }
    r
  end
  def take_while
    return __enum(:take_while) { nil } unless block_given?
    r = []
    each { |*v| break unless yield(*v); r << (v.size <= 1 ? v[0] : v) }
    r
  end
  def drop(n)
    n = __int(n, "attempt to drop negative size")
    r = []
    i = 0
    __each { |v| r << v if i >= n; i += 1 }
    r
  end
  def drop_while
    return __enum(:drop_while) { nil } unless block_given?
    r = []
    go = false
    __each { |v| go = true if !go && !yield(v); r << v if go }
    r
  end
  def include?(x)
    __each { |v| return true if v == x }
    false
  end
  alias member? include?
  def __all?(*p)
    __pattern(p, block_given?) unless p.empty?
    if !p.empty? then __each { |v| return false unless p[0] === v }
    elsif block_given? then each { |*v| return false unless yield(*v) }
    else __each { |v| return false unless v }
    end
    true
  end
  def __any?(*p)
    __pattern(p, block_given?) unless p.empty?
    if !p.empty? then __each { |v| return true if p[0] === v }
    elsif block_given? then each { |*v| return true if yield(*v) }
    else __each { |v| return true if v }
    end
    false
  end
  def __none?(*p)
    __pattern(p, block_given?) unless p.empty?
    if !p.empty? then __each { |v| return false if p[0] === v }
    elsif block_given? then each { |*v| return false if yield(*v) }
    else __each { |v| return false if v }
    end
    true
  end
  def one?(*p)
    __pattern(p, block_given?) unless p.empty?
    n = 0
    if !p.empty? then __each { |v| n += 1 if p[0] === v; return false if n > 1 }
    elsif block_given? then each { |*v| n += 1 if yield(*v); return false if n > 1 }
    else __each { |v| n += 1 if v; return false if n > 1 }
    end
    n == 1
  end
  def count(*a)
    n = 0
    if !a.empty? then __each { |v| n += 1 if v == a[0] }
    elsif block_given? then each { |*v| n += 1 if yield(*v) }
    else each { n += 1 }
    end
    n
  end
  def __inject(*args, &blk)
    raise ArgumentError, "wrong number of arguments (given #{args.size}, expected 0..2)" if args.size > 2
    op = nil
    if args.size == 2
      acc, op = args
      have = true
    elsif args.size == 1 && !blk
      op = args[0]
      have = false
    elsif args.size == 1
      acc = args[0]
      have = true
    else
      have = false
    end
    if op
      __note("given block not used", false) if blk
      op = op.to_str if !op.is_a?(Symbol) && op.respond_to?(:to_str)
      raise TypeError, "#{op.inspect} is not a symbol nor a string" unless op.is_a?(Symbol) || op.is_a?(String)
      op = op.to_sym
      __each { |v| if have then acc = acc.__send__(op, v) else acc = v; have = true end }
    else
      raise LocalJumpError, "no block given" unless blk
      __each { |v| if have then acc = blk.call(acc, v) else acc = v; have = true end }
    end
    acc
  end
  alias __reduce __inject
  def chain(*others) = Enumerator::Chain.new(self, *others)
  def sum(init = 0, &b) = (b ? map(&b) : to_a).sum(init)
  def min(*n, &b)
    return (b ? sort(&b) : sort).take(n[0]) unless n.empty? || n[0].nil?
    m = nil
    first = true
    __each { |v| if first then m = v; first = false elsif __order(v, m, b) < 0 then m = v end }
    m
  end
  def max(*n, &b)
    return (b ? sort(&b) : sort).reverse.take(n[0]) unless n.empty? || n[0].nil?
    m = nil
    first = true
    __each { |v| if first then m = v; first = false elsif __order(v, m, b) > 0 then m = v end }
    m
  end
  def __order(a, b, blk)
    r = blk ? blk.call(a, b) : (a <=> b)
    if r.nil?
      raise ArgumentError, "comparison of #{a.class} with #{b.nil? || Numeric === b ? b.inspect : b.class} failed"
    end
    r
  end
  private :__order
  def minmax(&b) = [min(&b), max(&b)]
  def __min_by(*n)
    return __enum(:min_by, *n) { __esize } unless block_given?
    return sort_by { |v| yield v }.take(n[0]) unless n.empty? || n[0].nil?
    m = mk = nil
    first = true
    __each do |v|
      k = yield(v)
      if first then m, mk, first = v, k, false elsif __order(k, mk, nil) < 0 then m, mk = v, k end
    end
    m
  end
  def __max_by(*n)
    return __enum(:max_by, *n) { __esize } unless block_given?
    return sort_by { |v| yield v }.reverse.take(n[0]) unless n.empty? || n[0].nil?
    m = mk = nil
    first = true
    __each do |v|
      k = yield(v)
      if first then m, mk, first = v, k, false elsif __order(k, mk, nil) > 0 then m, mk = v, k end
    end
    m
  end
  def minmax_by(&b)
    return __enum(:minmax_by) { __esize } unless b
    [min_by(&b), max_by(&b)]
  end
  def sort(&b) = to_a.sort(&b)
  def sort_by(&b)
    return __enum(:sort_by) { __esize } unless b
    to_a.sort_by(&b)
  end
  def __group_by
    return __enum(:group_by) { __esize } unless block_given?
    h = {}
    __each { |v| (h[yield(v)] ||= []) << v }
    h
  end
  def __partition
    return __enum(:partition) { __esize } unless block_given?
    a, b = [], []
    __each { |v| (yield(v) ? a : b) << v }
    [a, b]
  end
  def tally(hash = nil)
    h = hash ? Hash.try_convert(hash) || raise(TypeError, "no implicit conversion of #{hash.class} into Hash") : {}
    raise FrozenError.new("can't modify frozen Hash: #{h.inspect}", receiver: h) if h.frozen?
    __each do |v|
      c = h.fetch(v, 0)
      raise TypeError, "wrong argument type #{c.class} (expected Integer)" unless Integer === c
      h[v] = c + 1
    end
    h
  end
  def uniq(&b) = to_a.uniq(&b)
  def compact = to_a.compact
  def zip(*others, &b) = to_a.zip(*others, &b)
  def __each_slice(n)
    n = Array.__to_int(n)
    raise ArgumentError, "invalid slice size" if n <= 0
    return __enum(:each_slice, n) { s = __esize; s && (s + n - 1) / n } unless block_given?
    a = []
    __each { |v| a << v; if a.size == n then yield a; a = [] end }
    yield a unless a.empty?
    self
  end
  def __each_cons(n)
    n = Array.__to_int(n)
    raise ArgumentError, "invalid size" if n <= 0
    return __enum(:each_cons, n) { s = __esize; s && (s - n + 1 < 0 ? 0 : s - n + 1) } unless block_given?
    a = []
    __each { |v| a << v; a.shift if a.size > n; yield a.dup if a.size == n }
    self
  end
  def cycle(n = nil)
    unless block_given?
      return __enum(:cycle, n) { s = __esize; s && (n ? [n * s, 0].max : (s == 0 ? 0 : Float::INFINITY)) }
    end
    if n
      n = Array.__to_int(n)
      return nil if n <= 0
    end
    cache = []
    __each { |v| cache << v; yield v }
    return nil if cache.empty?
    if n then (n - 1).times { cache.each { |v| yield v } } else loop { cache.each { |v| yield v } } end
    nil
  end
  def chunk_while
    raise ArgumentError, "tried to create Proc object without a block" unless block_given?
    slice_when { |a, b| !yield(a, b) }
  end
  def slice_when(&b)
    raise ArgumentError, "tried to create Proc object without a block" unless b
    src = self
    Enumerator.new do |y|
      acc = nil
      prev = nil
      src.each do |*v|
        v = v.size <= 1 ? v[0] : v
        if acc.nil? then acc = [v]
        elsif b.call(prev, v) then y << acc; acc = [v]
        else acc << v
        end
        prev = v
      end
      y << acc if acc
    end
  end
  def slice_before(*pat, &b)
    raise ArgumentError, "wrong number of arguments (given 0, expected 1)" if pat.empty? && !b
    raise ArgumentError, "both pattern and block are given" if !pat.empty? && b
    src = self
    Enumerator.new do |y|
      acc = nil
      src.each do |*v|
        v = v.size <= 1 ? v[0] : v
        hit = pat.empty? ? b.call(v) : pat[0] === v
        if acc && hit then y << acc; acc = [v] else (acc ||= []) << v end
      end
      y << acc if acc
    end
  end
  def slice_after(*pat, &b)
    raise ArgumentError, "wrong number of arguments (given 0, expected 1)" if pat.empty? && !b
    raise ArgumentError, "both pattern and block are given" if !pat.empty? && b
    src = self
    Enumerator.new do |y|
      acc = nil
      src.each do |*v|
        v = v.size <= 1 ? v[0] : v
        (acc ||= []) << v
        if pat.empty? ? b.call(v) : pat[0] === v then y << acc; acc = nil end
      end
      y << acc if acc
    end
  end
  def chunk(&b)
    return __enum(:chunk) { nil } unless b
    src = self
    Enumerator.new do |y|
      acc = nil
      key = nil
      src.each do |*v|
        v = v.size <= 1 ? v[0] : v
        k = b.call(v)
        if k.nil? || k == :_separator
          y << [key, acc] if acc
          acc = nil
        elsif k == :_alone
          y << [key, acc] if acc
          y << [:_alone, [v]]
          acc = nil
        elsif k.is_a?(Symbol) && k.start_with?("_")
          raise RuntimeError, "symbols beginning with an underscore are reserved"
        elsif acc && k == key then acc << v
        else
          y << [key, acc] if acc
          key, acc = k, [v]
        end
      end
      y << [key, acc] if acc
    end
  end
  def grep(pat)
    r = []
    __each { |v| if pat === v then r << (block_given? ? yield(v) : v) end }
    r
  end
  def grep_v(pat)
    r = []
    __each { |v| r << (block_given? ? yield(v) : v) unless pat === v }
    r
  end
  private :__map, :__collect, :__inject, :__each_slice, :__each_cons, :__each_with_object, :__partition, :__group_by,
    :__any?, :__all?, :__none?, :__find, :__detect, :__min_by, :__max_by, :__reduce
  def lazy
    src = self
    l = Enumerator::Lazy.new(src, __esize) { |y, *v| y.yield(*v) }
    l
  end
  def each_index_dummy__ = nil
end
