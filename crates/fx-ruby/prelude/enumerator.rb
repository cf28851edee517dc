class Enumerator
  class Yielder
    def initialize(&b) = @b = b
    def yield(*a) = @b.call(*a)
    def <<(v) = (@b.call(v); self)
    def to_proc = (y = self; ->(*a) { y.yield(*a) })
  end
  class Generator
    include Enumerable
    def initialize(&b)
      raise LocalJumpError, "no block given" unless b
      @b = b
    end
    def each(*a, &blk) = @b.call(Yielder.new(&blk), *a)
    def inspect = "#<Enumerator::Generator:0x#{"%016x" % (object_id * 8)}>"
  end
  def self.produce(*init, &b)
    raise ArgumentError, "no block given" unless b
    Enumerator.new(Float::INFINITY) do |y|
      begin
        v = init.empty? ? b.call : init[0]
        loop_on = true
        while loop_on
          y << v
          v = b.call(v)
        end
      rescue StopIteration
      end
    end
  end
  def self.product(*e, &b) = (r = e.empty? ? [[]] : e[0].to_a.product(*e[1..].map(&:to_a)); b ? r.each(&b) : r.each)
  def with_index(offset = 0)
    offset = offset.nil? ? 0 : Array.__to_int(offset)
    return to_enum(:with_index, offset).__set_size(size) unless block_given?
    i = offset - 1
    each { |*v| yield((v.size <= 1 ? v[0] : v), (i += 1)) }
  end
  def each_with_index(&b)
    return to_enum(:each_with_index).__set_size(size) unless b
    with_index(0, &b)
  end
  def with_object(memo)
    return to_enum(__callee__, memo).__set_size(size) unless block_given?
    each { |*v| yield((v.size <= 1 ? v[0] : v), memo) }
    memo
  end
  alias each_with_object with_object
  def +(o) = Chain.new(self, o)
  class Chain < Enumerator
    def initialize(*e)
      raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
      @__enums, @__begun = e, 0
      __init(self, :__run)
    end
    def __run(*a, &b) = each(*a, &b)
    def each(*a, &b)
      return a.empty? ? self : to_enum(:each, *a) unless b
      @__enums.each_with_index do |x, i|
        @__begun = i + 1
        x.each(*a, &b)
      end
      self
    end
    def size
      t = 0
      @__enums.each { |e| s = e.size; return s if s.nil? || (Float === s && s.infinite?); t += s }
      t
    end
    def rewind
      @__enums.first(@__begun).reverse_each { |e| e.rewind if e.respond_to?(:rewind) }
      @__begun = 0
      self
    end
    def inspect
      return "#<Enumerator::Chain: uninitialized>" unless @__enums
      "#<Enumerator::Chain: [#{@__enums.map(&:inspect).join(", ")}]>"
    end
    def +(o) = Chain.new(self, o)
  end
  class ArithmeticSequence < Enumerator
    attr_reader :begin, :end, :step
    class << self
      undef_method :new
      def __make(b, e, s, x, range, shown, num = nil)
        o = allocate
        o.__seq(b, e, s, x, range, shown, num)
        o
      end
    end
    def __aseq = true
    def __called(name) = (@named = name; self)
    def __seq(b, e, s, x, range, shown, num)
      @begin, @end, @step, @excl, @range, @shown, @num = b, e, s, x, range, shown, num
      __init(self, :__run)
    end
    def exclude_end? = @excl
    def __run(&b) = each(&b)
    def each(&b)
      return self unless b
      if @begin.is_a?(Float) || @end.is_a?(Float) || @step.is_a?(Float)
        Float.__each_step(@begin.to_f, @end&.to_f, @step.to_f, @excl, &b)
      else
        v = @begin
        while @end.nil? || (@step > 0 ? (@excl ? v < @end : v <= @end) : (@excl ? v > @end : v >= @end))
          b.call(v)
          v += @step
        end
      end
      self
    end
    def size
      return Float::INFINITY if @end.nil?
      if @begin.is_a?(Float) || @end.is_a?(Float) || @step.is_a?(Float)
        return Float.__steps(@begin.to_f, @end.to_f, @step.to_f, @excl)
      end
      d = @step > 0 ? @end - @begin : @begin - @end
      return 0 if d < 0
      k = (d / @step.abs).floor
      k -= 1 if @excl && d % @step.abs == 0
      k + 1
    end
    def first(*n)
      if n.empty?
        return nil if size == 0
        return [@begin, @step, @end].any?(Float) ? @begin.to_f : @begin
      end
      super
    end
    def last(*n)
      raise RangeError, "cannot get the last element of endless arithmetic sequence" if @end.nil?
      n.empty? ? to_a.last : to_a.last(*n)
    end
    def ==(o)
      ArithmeticSequence === o && @begin == o.begin && @end == o.end && @step == o.step && @excl == o.exclude_end?
    end
    def eql?(o) = self == o
    def ===(o) = self == o
    def hash = [@begin, @end, @step, @excl].hash
    def inspect
      if @num
        b, e, s, kw = @num
        args = if kw then [("by: #{s.inspect}" if s), ("to: #{e.inspect}" if e)].compact
               else [e.nil? && s.nil? ? nil : e.inspect, s&.inspect].compact
               end
        return "(#{b.inspect}.step#{args.empty? ? "" : "(#{args.join(", ")})"})"
      end
      @shown ? "((#{@range.inspect}).#{@named || "step"}(#{@shown.inspect}))" : "((#{@range.inspect}).step)"
    end
    def to_s = inspect
  end
  class Lazy < Enumerator
    def initialize(src, size = nil, &b)
      raise ArgumentError, "tried to call lazy new without a block" unless b
      @__src, @__b, @__size = src, b, size
      __init(self, :__run)
      __set_size(size)
    end
    def __run(*a, &blk) = each(*a, &blk)
    def each(*a, &blk)
      return self unless blk
      b = @__b
      y = Yielder.new(&blk)
      @__src.each(*a) { |*v| b.call(y, *v) }
      self
    end
    def __chain(size = nil, &b) = Lazy.new(self, size, &b)
    # A chain that keeps something from one value to the next: the block makes it for each walk.
    def __walk(size = nil, &walk) = Lazy.new(Enumerator.new(&walk), size) { |y, *v| y.yield(*v) }
    private :__chain, :__walk
    def size = @__size.respond_to?(:call) ? @__size.call : @__size
    def lazy = self
    def force(*a) = to_a(*a)
    def eager = (l = self; Enumerator.new { |y| l.each { |*v| y.yield(*v) } })
    def map(&f)
      raise ArgumentError, "tried to call lazy map without a block" unless f
      __chain(size) { |y, *v| y << f.call(*v) }
    end
    alias collect map
    def select(&f)
      raise ArgumentError, "tried to call lazy select without a block" unless f
      __chain { |y, *v| x = v.size <= 1 ? v[0] : v; y << x if f.call(x) }
    end
    alias filter select
    alias find_all select
    def reject(&f)
      raise ArgumentError, "tried to call lazy reject without a block" unless f
      __chain { |y, *v| x = v.size <= 1 ? v[0] : v; y << x unless f.call(x) }
    end
    def filter_map(&f) = __chain { |y, *v| r = f.call(*v); y << r if r }
    def flat_map(&f)
      raise ArgumentError, "tried to call lazy flat_map without a block" unless f
      __chain do |y, *v|
        r = f.call(*v)
        Array === r || (r.respond_to?(:force) && r.respond_to?(:each)) ? r.each { |x| y << x } : y << r
      end
    end
    alias collect_concat flat_map
    def take(n)
      n = Array.__to_int(n)
      raise ArgumentError, "attempt to take negative size" if n < 0
      src = self
      __walk(size ? [n, size].min : nil) do |y|
        i = 0
        src.each { |*v| y << (v.size <= 1 ? v[0] : v); i += 1; break if i >= n } if n > 0
      end
    end
    def first(*a)
      return take(a[0]).to_a unless a.empty?
      each { |*v| return v.size <= 1 ? v[0] : v }
      nil
    end
    def take_while(&f)
      raise ArgumentError, "tried to call lazy take_while without a block" unless f
      src = self
      __walk { |y| src.each { |*v| break unless f.call(*v); y << (v.size <= 1 ? v[0] : v) } }
    end
    def drop(n)
      n = Array.__to_int(n)
      raise ArgumentError, "attempt to drop negative size" if n < 0
      src = self
      __walk(size && [size - n, 0].max) do |y|
        i = 0
        src.each { |*v| y.yield(*v) if (i += 1) > n }
      end
    end
    def drop_while(&f)
      raise ArgumentError, "tried to call lazy drop_while without a block" unless f
      src = self
      __walk do |y|
        go = false
        src.each { |*v| go ||= !f.call(*v); y << (v.size <= 1 ? v[0] : v) if go }
      end
    end
    def grep(pat, &f) = __chain { |y, *v| x = v.size <= 1 ? v[0] : v; y << (f ? f.call(x) : x) if pat === x }
    def grep_v(pat, &f) = __chain { |y, *v| x = v.size <= 1 ? v[0] : v; y << (f ? f.call(x) : x) unless pat === x }
    def compact = __chain { |y, *v| x = v.size <= 1 ? v[0] : v; y << x unless x.nil? }
    def uniq(&f)
      src = self
      __walk do |y|
        seen = {}
        src.each do |*v|
          x = v.size <= 1 ? v[0] : v
          k = f ? f.call(x) : x
          next if seen.key?(k)
          seen[k] = true
          y << x
        end
      end
    end
    def zip(*o, &b)
      return super if b
      o.each do |x|
        raise TypeError, "wrong argument type #{x.class} (must respond to :each)" unless x.respond_to?(:each)
      end
      src = self
      __walk(size) do |y|
        others = o.map(&:each_entry)
        src.each do |*v|
          y << [v.size <= 1 ? v[0] : v, *others.map { |e| begin; e.next; rescue StopIteration; nil; end }]
        end
      end
    end
    def with_index(off = 0, &f)
      off = off.nil? ? 0 : Array.__to_int(off)
      src = self
      __walk(size) do |y|
        i = off - 1
        src.each do |*v|
          x = v.size <= 1 ? v[0] : v
          i += 1
          f&.call(x, i)
          y << (f ? x : [x, i])
        end
      end
    end
    def each_with_index(&f) = with_index(0, &f)
    def slice_when(&b) = super.lazy
    def chunk_while(&b) = super.lazy
    def slice_before(*a, &b) = super.lazy
    def slice_after(*a, &b) = super.lazy
    def chunk(&b) = super.lazy
    def inspect = "#<Enumerator::Lazy: #{@__b ? @__src.inspect : "uninitialized"}>"
    def to_enum(m = :each, *a, &b)
      s = self
      __walk(b && -> { s.instance_exec(*a, &b) }) { |y| s.__send__(m, *a) { |*v| y.yield(*v) } }
    end
    alias enum_for to_enum
  end
end
