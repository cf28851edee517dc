class << ENV
  def __k(n)
    n = n.to_str if !(String === n) && n.respond_to?(:to_str)
    raise TypeError, "no implicit conversion of #{n.nil? ? "nil" : n.class} into String" unless String === n
    raise ArgumentError, "bad environment variable name: contains null byte" if n.include?("\0")
    n
  end
  private :__k
  def [](n) = __get(__k(n))
  def []=(n, v)
    n = __k(n)
    v = v.nil? ? nil : __k(v)
    return if v.nil? && (n.empty? || n.include?("="))
    raise Errno::EINVAL, "setenv(#{n})" if n.empty? || n.include?("=")
    __put(n, v)
  end
  alias store []=
  def fetch(n, *d)
    n = __k(n)
    v = __get(n)
    __note("block supersedes default value argument", false) if block_given? && !d.empty?
    return v unless v.nil?
    return yield(n) if block_given?
    return d[0] unless d.empty?
    raise KeyError.new("key not found: #{n.inspect}", receiver: self, key: n)
  end
  def delete(n)
    n = __k(n)
    v = __get(n)
    __put(n, nil) unless v.nil?
    v.nil? && block_given? ? yield(n) : v
  end
  def key?(n) = !self[n].nil?
  alias has_key? key?
  alias include? key?
  alias member? key?
  def value?(v) = String === v || v.respond_to?(:to_str) ? values.include?(v.to_str) : nil
  alias has_value? value?
  def key(v) = (v = __k(v); (p = __pairs.find { |_, x| x == v }) && p[0])
  def keys = __pairs.map(&:first)
  def values = __pairs.map(&:last)
  def to_a = __pairs
  def to_hash = __pairs.to_h
  def to_h(&b) = b ? to_hash.to_h(&b) : to_hash
  def each(&b)
    return to_enum(__callee__).__set_size(size) unless b
    __pairs.each { |k, v| b.call([k, v]) }
    self
  end
  alias each_pair each
  def each_key(&b) = b ? (keys.each(&b); self) : to_enum(:each_key).__set_size(size)
  def each_value(&b) = b ? (values.each(&b); self) : to_enum(:each_value).__set_size(size)
  def size = __pairs.size
  def length = size
  def empty? = size == 0
  def slice(*ks) = ks.each_with_object({}) { |k, h| v = self[k]; h[k] = v unless v.nil? }
  def except(*ks) = to_hash.except(*ks)
  def values_at(*ks) = ks.map { |k| self[k] }
  def assoc(k) = (k = __k(k); v = __get(k); v && [k, v])
  def rassoc(v)
    v = v.to_str unless String === v || !v.respond_to?(:to_str)
    String === v ? __pairs.find { |_, x| x == v } : nil
  end
  def invert = to_hash.invert
  def select(&b) = b ? to_hash.select(&b) : to_enum(__callee__).__set_size(size)
  alias filter select
  def reject(&b) = b ? to_hash.reject(&b) : to_enum(:reject).__set_size(size)
  def select!(&b)
    return to_enum(__callee__).__set_size(size) unless b
    n = size
    __pairs.each { |k, v| __put(k, nil) unless b.call(k, v) }
    n == size ? nil : self
  end
  alias filter! select!
  def keep_if(&b) = b ? (select!(&b); self) : to_enum(:keep_if).__set_size(size)
  def reject!(&b)
    return to_enum(:reject!).__set_size(size) unless b
    n = size
    __pairs.each { |k, v| __put(k, nil) if b.call(k, v) }
    n == size ? nil : self
  end
  def delete_if(&b) = b ? (reject!(&b); self) : to_enum(:delete_if).__set_size(size)
  def clear = (keys.each { |k| __put(k, nil) }; self)
  def replace(h)
    h = Hash.__convert(h)
    h.each { |k, v| __k(k); __k(v) }
    (keys - h.keys).each { |k| __put(k, nil) }
    h.each { |k, v| self[k] = v }
    self
  end
  def update(*hs)
    hs.each { |h| h.to_hash.each { |k, v| self[k] = block_given? && key?(k) ? yield(k, self[k], v) : v } }
    self
  end
  alias merge! update
  def shift = (p = __pairs.first) ? (__put(p[0], nil); p) : nil
  def rehash = nil
  def freeze = raise(TypeError, "cannot freeze ENV")
  def clone(freeze: nil) = raise(TypeError, "Cannot clone ENV, use ENV.to_h to get a copy of ENV as a hash")
  def dup = raise(TypeError, "Cannot dup ENV, use ENV.to_h to get a copy of ENV as a hash")
  def to_s = "ENV"
  def inspect = to_hash.inspect
end
