class Hash
  def self.__convert(v)
    try_convert(v) || raise(TypeError, "no implicit conversion of #{v.nil? ? "nil" : v.class} into Hash")
  end
  def self.[](*args)
    h = allocate
    if args.size == 1
      if (o = Hash.try_convert(args[0]))
        o.each { |k, v| h[k] = v }
        return h
      end
      if (a = Array.try_convert(args[0]))
        a.each do |e|
          p = Array.try_convert(e)
          unless p
            shown = e.nil? || true == e || false == e ? e.inspect : e.class
            raise ArgumentError, "wrong element type #{shown} at #{a.index { |x| x.equal?(e) }} (expected array)"
          end
          raise ArgumentError, "invalid number of elements (#{p.size} for 1..2)" unless p.size == 1 || p.size == 2
          h[p[0]] = p[1]
        end
        return h
      end
    end
    raise ArgumentError, "odd number of arguments for Hash" if args.size.odd?
    args.each_slice(2) { |k, v| h[k] = v }
    h
  end
  def __e(m) = to_enum(m).__set_size(size)
  private :__e
  def value?(v)
    each_value { |x| return true if x == v }
    false
  end
  alias has_value? value?
  def key(v)
    each { |k, x| return k if x == v }
    nil
  end
  def values_at(*ks) = ks.map { |k| self[k] }
  def fetch_values(*ks, &b) = ks.map { |k| fetch(k, &b) }
  def dig(k, *rest)
    v = self[k]
    return v if rest.empty? || v.nil?
    raise TypeError, "#{v.class} does not have #dig method" unless v.respond_to?(:dig)
    v.dig(*rest)
  end
  def to_h
    unless block_given?
      return self if instance_of?(Hash)
      h = {}
      h.compare_by_identity if compare_by_identity?
      each { |k, v| h[k] = v }
      h.default = default unless default_proc
      h.default_proc = default_proc if default_proc
      return h
    end
    h = {}
    each do |k, v|
      r = yield(k, v)
      a = Array.try_convert(r)
      raise TypeError, "wrong element type #{r.class} (expected array)" unless a
      raise ArgumentError, "element has wrong array length (expected 2, was #{a.size})" if a.size != 2
      h[a[0]] = a[1]
    end
    h
  end
  def to_proc
    h = self
    lambda { |k| h[k] }
  end
  def transform_values
    return __e(:transform_values) unless block_given?
    h = {}
    h.compare_by_identity if compare_by_identity?
    each { |k, v| h[k] = yield(v) }
    h
  end
  def transform_values!
    return __e(:transform_values!) unless block_given?
    raise FrozenError.new("can't modify frozen Hash: #{inspect}", receiver: self) if frozen?
    each { |k, v| self[k] = yield(v) }
    self
  end
  def transform_keys(map = nil)
    return __e(:transform_keys) unless block_given? || map
    h = {}
    each { |k, v| h[map && map.key?(k) ? map[k] : (block_given? ? yield(k) : k)] = v }
    h
  end
  def transform_keys!(map = nil, &b)
    return __e(:transform_keys!) unless b || map
    raise FrozenError.new("can't modify frozen Hash: #{inspect}", receiver: self) if frozen?
    new = {}
    to_a.each { |k, v| new[map && map.key?(k) ? map[k] : (b ? b.call(k) : k)] = v }
    d, dp = default_proc ? nil : default, default_proc
    clear
    new.each { |k, v| self[k] = v }
    self
  end
  def invert
    h = {}
    each { |k, v| h[v] = k }
    h
  end
  def slice(*ks)
    h = {}
    h.compare_by_identity if compare_by_identity?
    ks.each { |k| h[k] = fetch(k) if key?(k) }
    h
  end
  def except(*ks)
    h = {}
    h.compare_by_identity if compare_by_identity?
    each { |k, v| h[k] = v }
    ks.each { |k| h.delete(k) }
    h
  end
  def compact = reject { |_, v| v.nil? }
  def compact! = reject! { |_, v| v.nil? }
  def assoc(k)
    each { |x, v| return [x, v] if x == k }
    nil
  end
  def rassoc(v)
    each { |k, x| return [k, x] if x == v }
    nil
  end
  def any?(*p)
    return super if !p.empty?
    return !empty? unless block_given?
    each { |k, v| return true if yield([k, v]) }
    false
  end
  def all?(*p, &b)
    return super unless b && p.empty?
    each { |k, v| return false unless b.call([k, v]) }
    true
  end
  def count(*a, &b)
    return size if a.empty? && !b
    return super unless b
    n = 0
    each { |k, v| n += 1 if b.call([k, v]) }
    n
  end
  def find(none = nil)
    return to_enum(__callee__, *none) unless block_given?
    each { |k, v| return [k, v] if yield([k, v]) }
    none&.call
  end
  alias detect find
  def find_all(&b)
    return to_enum(:find_all) unless b
    r = []
    each { |k, v| r << [k, v] if b.call([k, v]) }
    r
  end
  def partition
    return to_enum(:partition) unless block_given?
    a, b = [], []
    each { |k, v| (yield([k, v]) ? a : b) << [k, v] }
    [a, b]
  end
  def flat_map
    return to_enum(:flat_map) unless block_given?
    r = []
    each { |k, v| x = yield([k, v]); Array === x ? r.concat(x) : r << x }
    r
  end
  def filter_map
    return to_enum(:filter_map).__set_size(size) unless block_given?
    r = []
    each { |k, v| x = yield([k, v]); r << x if x }
    r
  end
  def sum(init = 0)
    each { |k, v| init += block_given? ? yield([k, v]) : [k, v] }
    init
  end
  def min_by(*n, &b) = b ? to_a.min_by(*n) { |pair| b.call(pair) } : to_enum(:min_by, *n)
  def max_by(*n, &b) = b ? to_a.max_by(*n) { |pair| b.call(pair) } : to_enum(:max_by, *n)
  def sort_by(&b) = b ? to_a.sort_by { |pair| b.call(pair) } : to_enum(:sort_by)
  def group_by(&b) = b ? to_a.group_by { |pair| b.call(pair) } : to_enum(:group_by)
  def sort(&b) = to_a.sort(&b)
  def flatten(depth = 1)
    depth = Array.__to_int(depth)
    return to_a if depth == 0
    r = []
    each { |k, v| r << k << v }
    depth == 1 ? r : r.flatten(depth < 0 ? -1 : depth - 1)
  end
  def <=(o)
    o = Hash.try_convert(o) || raise(TypeError, "no implicit conversion of #{o.class} into Hash")
    all? { |k, v| o.key?(k) && o[k] == v }
  end
  def <(o)
    o = Hash.try_convert(o) || raise(TypeError, "no implicit conversion of #{o.class} into Hash")
    size < o.size && self <= o
  end
  def >=(o) = (Hash.try_convert(o) || raise(TypeError, "no implicit conversion of #{o.class} into Hash")) <= self
  def >(o) = (Hash.try_convert(o) || raise(TypeError, "no implicit conversion of #{o.class} into Hash")) < self
  def deconstruct_keys(_) = self
  def each_entry(&b) = b ? each { |k, v| b.call([k, v]) } : to_enum(:each_entry)
end
