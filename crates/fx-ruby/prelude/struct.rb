class Struct
  def __index(k)
    case k
    when Symbol, String
      i = members.index(k.to_sym)
      raise NameError.new("no member '#{k}' in struct", k.to_sym, receiver: self) unless i
      i
    else
      i = Array.__to_int(k)
      n = members.size
      raise IndexError, "offset #{i} too large for struct(size:#{n})" if i >= n
      raise IndexError, "offset #{i} too small for struct(size:#{n})" if i < -n
      i < 0 ? i + n : i
    end
  end
  private :__index
  def [](k) = __get(__index(k))
  def []=(k, v)
    i = __index(k)
    __put(i, v)
  end
  def each
    return to_enum(:each).__set_size(size) unless block_given?
    to_a.each { |v| yield v }
    self
  end
  def each_pair
    return to_enum(:each_pair).__set_size(size) unless block_given?
    members.each { |m| yield [m, __get(__index(m))] }
    self
  end
  def to_h
    h = {}
    members.each_with_index do |m, i|
      if block_given?
        r = yield(m, __get(i))
        a = Array.try_convert(r)
        raise TypeError, "wrong element type #{r.class} (expected array)" unless a
        raise ArgumentError, "element has wrong array length (expected 2, was #{a.size})" if a.size != 2
        h[a[0]] = a[1]
      else
        h[m] = __get(i)
      end
    end
    h
  end
  def deconstruct_keys(keys)
    return to_h if keys.nil?
    raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless Array === keys
    return {} if keys.size > members.size
    h = {}
    keys.each do |k|
      known = Integer === k ? k < members.size : (Symbol === k || String === k) && members.include?(k.to_sym)
      unless known
        return h
      end
      h[k] = self[k]
    end
    h
  end
  def size = members.size
  def length = members.size
  def values_at(*list)
    list.flat_map do |i|
      next self[Array.__to_int(i)] unless Range === i
      from = i.begin.nil? ? 0 : Array.__to_int(i.begin)
      raise RangeError, "#{i.inspect} out of range" if from < -size || from > size
      to_a.values_at(i)
    end
  end
  def dig(k, *rest)
    v = begin
      self[k]
    rescue IndexError, NameError
      nil
    end
    return v if rest.empty? || v.nil?
    raise TypeError, "#{v.class} does not have #dig method" unless v.respond_to?(:dig)
    v.dig(*rest)
  end
  def select(&b) = b ? to_a.select(&b) : to_enum(__callee__).__set_size(size)
  alias filter select
  def filter_map(&b) = b ? to_a.filter_map(&b) : to_enum(:filter_map).__set_size(size)
  def initialize_copy(o) = __init_copy(o)
  def inspect
    t = Thread.current[:__struct_inspect] ||= []
    name = Module.instance_method(:name).bind_call(self.class)
    name = nil if name&.start_with?("#<")
    head = name ? "#<struct #{name} " : "#<struct "
    return "#{head}:...>" if t.any? { |x| x.equal?(self) }
    t.push(self)
    begin
      pairs = members.each_with_index.map do |m, i|
        "#{m =~ /\A[a-zA-Z_]\w*[?!]?\z/ ? m : m.inspect}=#{__get(i).inspect}"
      end
      "#{head}#{pairs.join(", ")}>"
    ensure
      t.pop
    end
  end
  alias to_s inspect
end
