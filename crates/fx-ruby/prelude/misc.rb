class Ractor
  def self.new(*) = raise(NotImplementedError, "Ractor is not supported by this runtime: it runs in one thread")
end
class RubyVM
end
TOPLEVEL_BINDING = binding
ARGF = $stdin
module ObjectSpace
  class WeakMap
    def [](k) = ObjectSpace.__weak_get(self, k)
    def []=(k, v)
      ObjectSpace.__weak_set(self, k, v)
    end
    def to_h = ObjectSpace.__weak_pairs(self)
    private :to_h
    def key?(k) = to_h.key?(k)
    alias include? key?
    alias member? key?
    def size = to_h.size
    alias length size
    def keys = to_h.keys
    def values = to_h.values
    def each(&b) = (to_h.each(&b); self)
    alias each_pair each
    def each_key(&b) = (to_h.each_key(&b); self)
    def each_value(&b) = (to_h.each_value(&b); self)
    def inspect
      h = to_h
      "#<ObjectSpace::WeakMap#{":" unless h.empty?}#{h.map { |k, v| " #{k.inspect} => #{v.inspect}" }.join(",")}>"
    end
  end
end
class Random
  DEFAULT = self
  def random_number(*a) = a.empty? ? rand : rand(*a)
  def self.random_number(*a) = a.empty? ? rand : rand(*a)
end
