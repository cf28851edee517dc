p defined?(nil), defined?([1, xx]), proc { |a = 9, **k| [a, k] }.call([1, { a: 1 }]), proc { |a, **k| [a, k] }.call([1, 2])
p ("".tap rescue $!.message), (catch(:a) rescue $!.class), (Integer("1", exception: 5) rescue $!.message), (5 % 0.0 rescue $!.message), (5.0 % 0 rescue $!.message)
class Kept
  def a; end
  alias_method :initialize_copy, :a
end
p Kept.private_method_defined?(:initialize_copy), Proc.new {}.to_s.encoding, Module.private_method_defined?(:private)
Named = Struct.new(:a, keyword_init: true)
p Named.new({ a: 1 }), (Struct.new(:a).new(1).values_at(3) rescue $!.message), Class.new { const_set(:Foo, Struct.new(:a)) }::Foo.new(1)
class Odd
  def inspect = :odd
  private def hidden = 1
  def respond_to_missing?(name, all) = name == :hidden
end
p [Odd.new], { a: Odd.new }, Odd.new.respond_to?(:hidden), __ENCODING__
require "set"
p Set[1].compare_by_identity == Set[1], Set[1, Set[2]].flatten, [1, 2].each_entry.chain([3]).to_a, (1..3).lazy.take(2).to_a
