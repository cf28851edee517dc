module TSort
  class Cyclic < StandardError; end
  def tsort = TSort.tsort(method(:tsort_each_node), method(:tsort_each_child))
  def tsort_each(&b) = b ? tsort.each(&b) : to_enum(:tsort_each)
  def strongly_connected_components
    TSort.strongly_connected_components(method(:tsort_each_node), method(:tsort_each_child))
  end
  def each_strongly_connected_component(&b)
    b ? strongly_connected_components.each(&b) : to_enum(:each_strongly_connected_component)
  end
  def tsort_each_node = raise(NotImplementedError.new)
  def tsort_each_child(_) = raise(NotImplementedError.new)
  def self.tsort(en, ec)
    strongly_connected_components(en, ec).map do |c|
      raise Cyclic, "topological sort failed: #{c.inspect}" if c.size > 1
      c[0]
    end
  end
  def self.strongly_connected_components(en, ec)
    ids = {}
    low = {}
    stack = []
    on = {}
    out = []
    n = 0
    visit = lambda do |v|
      ids[v] = low[v] = (n += 1)
      stack.push(v)
      on[v] = true
      ec.call(v) do |w|
        if !ids.key?(w)
          visit.(w)
          low[v] = [low[v], low[w]].min
        elsif on[w]
          low[v] = [low[v], ids[w]].min
        end
      end
      if low[v] == ids[v]
        i = stack.index(v)
        c = stack.slice!(i..)
        c.each { |x| on.delete(x) }
        out << c
      end
    end
    en.call { |v| visit.(v) unless ids.key?(v) }
    out
  end
end
