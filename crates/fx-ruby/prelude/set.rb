class Set
  include Enumerable
  def self.[](*a) = new(a)
  def initialize(e = nil, &b)
    @hash = {}
    return if e.nil?
    __do(e) { |v| add(b ? b.call(v) : v) }
  end
  def __do(e, &b)
    if e.respond_to?(:each_entry) then e.each_entry(&b)
    elsif e.respond_to?(:each) then e.each(&b)
    else raise ArgumentError, "value must be enumerable"
    end
  end
  private :__do
  def initialize_copy(o) = (@hash = o.instance_variable_get(:@hash).dup)
  def freeze = (@hash.freeze; super)
  def compare_by_identity = (@hash.compare_by_identity; self)
  def compare_by_identity? = @hash.compare_by_identity?
  def size = @hash.size
  alias length size
  def count(*a, &b) = a.empty? && !b ? size : super
  def empty? = @hash.empty?
  def clear = (@hash.clear; self)
  def replace(e) = (n = Set.new(e); @hash.replace(n.instance_variable_get(:@hash)); self)
  def to_a = @hash.keys
  def to_set(k = Set, *a, &b) = k == Set && a.empty? && !b && instance_of?(Set) ? self : k.new(self, *a, &b)
  def include?(v) = @hash.key?(v)
  alias member? include?
  alias === include?
  alias contain? include?
  def add(v) = (@hash[v] = true; self)
  alias << add
  def add?(v) = include?(v) ? nil : add(v)
  def delete(v) = (@hash.delete(v); self)
  def delete?(v) = include?(v) ? delete(v) : nil
  def each(&b)
    return to_enum(:each).__set_size(size) unless b
    @hash.each_key(&b)
    self
  end
  def __set(o) = Set === o || o.is_a?(Set) ? o : raise(ArgumentError, "value must be a set")
  private :__set
  def superset?(o) = (__set(o); size >= o.size && o.all? { |v| include?(v) })
  alias >= superset?
  def proper_superset?(o) = (__set(o); size > o.size && o.all? { |v| include?(v) })
  alias > proper_superset?
  def subset?(o) = (__set(o); o.superset?(self))
  alias <= subset?
  def proper_subset?(o) = (__set(o); o.proper_superset?(self))
  alias < proper_subset?
  def <=>(o)
    return nil unless Set === o
    return 0 if self == o
    return -1 if proper_subset?(o)
    return 1 if proper_superset?(o)
    nil
  end
  def intersect?(o) = (o = Set.new(o) if Array === o; __set(o); any? { |v| o.include?(v) })
  def disjoint?(o) = !intersect?(o)
  def |(o) = dup.merge(o)
  alias + |
  alias union |
  def -(o) = dup.subtract(o)
  alias difference -
  def &(o)
    n = self.class.new
    __do(o) { |v| n.add(v) if include?(v) }
    n
  end
  alias intersection &
  def ^(o)
    n = self.class.new(o)
    each { |v| n.add(v) unless n.delete?(v) }
    n
  end
  def merge(*es) = (es.each { |e| __do(e) { |v| add(v) } }; self)
  def subtract(e) = (__do(e) { |v| delete(v) }; self)
  def ==(o)
    return true if equal?(o)
    return false unless o.is_a?(Set) && size == o.size
    identity = o.respond_to?(:compare_by_identity?) && o.compare_by_identity?
    compare_by_identity? == identity && o.all? { |v| include?(v) }
  end
  def eql?(o) = Set === o && @hash.eql?(o.instance_variable_get(:@hash))
  def hash = @hash.hash
  def map!(&b) = b ? replace(map(&b)) : to_enum(:map!).__set_size(size)
  alias collect! map!
  def select!(&b)
    b ? (n = size; @hash.select! { |k, _| b.call(k) }; n == size ? nil : self) : to_enum(:select!).__set_size(size)
  end
  alias filter! select!
  def reject!(&b)
    b ? (n = size; @hash.reject! { |k, _| b.call(k) }; n == size ? nil : self) : to_enum(:reject!).__set_size(size)
  end
  def keep_if(&b) = b ? (select!(&b); self) : to_enum(:keep_if).__set_size(size)
  def delete_if(&b) = b ? (reject!(&b); self) : to_enum(:delete_if).__set_size(size)
  def select(&b) = b ? self.class.new(to_a.select(&b)) : to_enum(:select).__set_size(size)
  alias filter select
  def reject(&b) = b ? self.class.new(to_a.reject(&b)) : to_enum(:reject).__set_size(size)
  def partition(&b) = b ? to_a.partition(&b) : to_enum(:partition).__set_size(size)
  def classify
    return to_enum(:classify).__set_size(size) unless block_given?
    h = {}
    each { |v| (h[yield(v)] ||= self.class.new).add(v) }
    h
  end
  def divide(&f)
    return to_enum(:divide).__set_size(size) unless f
    return Set.new(classify(&f).values) unless f.arity == 2
    left = to_a
    r = Set.new
    until left.empty?
      grp = [left.shift]
      i = 0
      while i < grp.size
        m, left = left.partition { |v| f.call(grp[i], v) && f.call(v, grp[i]) }
        grp.concat(m)
        i += 1
      end
      r << self.class.new(grp)
    end
    r
  end
  def flatten
    n = self.class.new
    go = lambda do |s, seen|
      raise ArgumentError, "tried to flatten recursive Set" if seen.include?(s.object_id)
      s.each { |v| Set === v ? go.(v, seen + [s.object_id]) : n.add(v) }
    end
    go.(self, [])
    n
  end
  def flatten_merge(set, seen = Set.new)
    set.each do |v|
      if Set === v
        raise ArgumentError, "tried to flatten recursive Set" if seen.include?(v.object_id)
        seen.add(v.object_id)
        flatten_merge(v, seen)
        seen.delete(v.object_id)
      else
        add(v)
      end
    end
    self
  end
  protected :flatten_merge
  def pretty_print_cycle(pp) = pp.text(format("#<Set: {%s}>", empty? ? "" : "..."))
  def flatten! = any? { |v| Set === v } ? replace(flatten) : nil
  def join(s = nil) = to_a.join(s)
  def first(*n) = n.empty? ? to_a.first : to_a.first(*n)
  def reset = (@hash.rehash; self)
  def inspect
    t = Thread.current[:__set_inspect] ||= []
    return "#<Set: {...}>" if t.include?(object_id)
    t.push(object_id)
    begin
      "#<#{self.class}: {#{to_a.map(&:inspect).join(", ")}}>"
    ensure
      t.pop
    end
  end
  alias to_s inspect
end
class SortedSet < Set
  def each(&b) = b ? (@hash.keys.sort.each(&b); self) : to_enum(:each)
  def to_a = @hash.keys.sort
end
