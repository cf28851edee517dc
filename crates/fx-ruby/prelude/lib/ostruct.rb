class OpenStruct
  def initialize(h = nil)
    @table = {}
    h&.each_pair { |k, v| self[k] = v }
  end
  def initialize_copy(o) = (super; @table = @table.dup)
  def [](k) = @table[k.to_sym]
  def []=(k, v)
    raise FrozenError.new("can't modify frozen #{self.class}: #{inspect}", receiver: self) if frozen?
    @table[k.to_sym] = v
  end
  def to_h(&b) = b ? @table.to_h(&b) : @table.dup
  def each_pair = block_given? ? (@table.each_pair { |p| yield p }; self) : to_enum(:each_pair).__set_size(@table.size)
  def respond_to_missing?(n, p = false) = (m = n.to_s.chomp("=").to_sym; @table&.key?(m) || super)
  def method_missing(n, *a)
    s = n.to_s
    if s.end_with?("=")
      raise ArgumentError, "wrong number of arguments (given #{a.size}, expected 1)" if a.size != 1
      self[s.chomp("=")] = a[0]
    elsif a.empty? then @table[n]
    elsif @table.key?(n) then raise ArgumentError, "wrong number of arguments (given #{a.size}, expected 0)"
    else
      begin
        super
      rescue NoMethodError => e
        raise e
      end
    end
  end
  def dig(k, *r)
    raise TypeError, "#{k} is not a symbol nor a string" unless k.respond_to?(:to_sym)
    v = @table[k.to_sym]
    r.empty? || v.nil? ? v : v.dig(*r)
  end
  def delete_field(n)
    s = n.to_sym
    return @table.delete(s) if @table.key?(s)
    return yield if block_given?
    raise NameError.new("no field `#{s}' in #{inspect}", s)
  end
  %i[
    name test class method format display freeze hash
  ].each { |m| define_method(m) { |*a, &b|
    @table&.key?(m) && a.empty? ? @table[m] : super(*a, &b) } unless %i[class freeze hash].include?(m)
  }
  def freeze = (@table.freeze; super)
  def marshal_dump = @table
  def marshal_load(h) = @table = h
  def encode_with(coder) = @table.each_pair { |k, v| coder[k.to_s] = v }
  def init_with(coder)
    @table = {}
    h = coder.map
    (h.keys == ["table"] ? h["table"] : h).each { |k, v| self[k] = v }
  end
  def ==(o) = OpenStruct === o && to_h == o.to_h
  def eql?(o) = OpenStruct === o && to_h.eql?(o.to_h)
  def hash = @table.hash
  def inspect
    t = Thread.current[:__ostruct] ||= []
    return "#<#{self.class} ...>" if t.include?(object_id)
    t << object_id
    begin
      @table.empty? ? "#<#{self.class}>" : "#<#{self.class} #{@table.map { |k, v| "#{k}=#{v.inspect}" }.join(", ")}>"
    ensure
      t.pop
    end
  end
  alias to_s inspect
end
