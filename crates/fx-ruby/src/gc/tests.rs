//! What is freed and what stays, by collections at known places.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use fx_host::MemoryHost;

use crate::value::Value;
use crate::{Ended, Hooks, Limits, Options, Vm};

#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn machine(out: &Printed, heap: usize) -> Vm {
    Vm::new(Options {
        host: Rc::new(MemoryHost::new()),
        out: Box::new(out.clone()),
        err: Box::new(std::io::sink()),
        limits: Limits { heap, ..Limits::default() },
        hooks: Hooks::default(),
        script: "t.rb".into(),
        argv: Vec::new(),
    })
}

/// What a program prints, with collections at every safepoint or when they are due.
fn printed(program: &str, stress: u32, heap: usize) -> String {
    let out = Printed::default();
    let mut vm = machine(&out, heap);
    vm.set_gc_stress(stress);
    let ended = vm.run_script(program.as_bytes(), "t.rb");
    let text = String::from_utf8_lossy(&out.0.borrow()).into_owned();
    match ended {
        Ended::Exit(0) => text,
        ended => format!("{text}{ended:?}"),
    }
}

const WIDE: usize = 1 << 30;

#[test]
fn what_nothing_refers_to_is_freed_cycles_too() {
    let mut vm = machine(&Printed::default(), WIDE);
    vm.collect();
    let before = vm.objects_in_use();
    let a = vm.arr(Vec::new());
    let b = vm.arr(vec![a]);
    vm.heap.arr_mut(a).push(b);
    let text = vm.str("x".repeat(1000));
    vm.globals.insert(crate::names::GV_0, text);
    vm.collect();
    assert_eq!(vm.objects_in_use(), before, "the cycle is gone, and the old name of the program");
    assert_eq!(vm.text(text).len(), 1000);
}

#[test]
fn a_list_of_a_million_links_is_walked_without_the_stack() {
    let mut vm = machine(&Printed::default(), WIDE);
    let mut list = vm.arr(Vec::new());
    for _ in 0..1_000_000 {
        list = vm.arr(vec![list]);
    }
    vm.pin(list);
    let before = vm.heap.arrays.in_use();
    vm.collect();
    assert_eq!(vm.heap.arrays.in_use(), before);
    vm.gc.pins.clear();
    vm.collect();
    assert!(vm.heap.arrays.in_use() < 1000);
}

#[test]
fn variables_of_a_string_live_as_long_as_the_string() {
    let mut vm = machine(&Printed::default(), WIDE);
    let (key, value) = (vm.str("key"), vm.str("value"));
    let name = vm.intern("@name");
    vm.ivar_set(key, name, value);
    vm.pin(key);
    vm.collect();
    assert_eq!(vm.ivar_get(key, name).map(|v| vm.text(v)).as_deref(), Some("value"));
    vm.gc.pins.clear();
    vm.collect();
    assert!(vm.heap.side_ivars.is_empty());
}

#[test]
fn a_singleton_class_ends_with_its_object() {
    let mut vm = machine(&Printed::default(), WIDE);
    let object = vm.new_obj(crate::object::c::OBJECT, crate::heap::Ext::None);
    let class = vm.singleton_class(object).expect("an object has one");
    let (name, held) = (vm.intern("@held"), vm.str("held"));
    vm.ivar_set(Value::class(class), name, held);
    vm.pin(object);
    vm.collect();
    assert_eq!(vm.text(held), "held");
    vm.gc.pins.clear();
    vm.collect();
    assert!(vm.classes[class as usize].ivars.is_empty());
}

#[test]
fn weak_maps_and_finalizers_notice_the_end_of_an_object() {
    let program = r#"
require "weakref"
map = ObjectSpace::WeakMap.new
kept = "kept"
ref = nil
1.times do
  gone = "gone"
  map[kept] = kept
  map[gone] = kept
  ref = WeakRef.new(gone)
  ObjectSpace.define_finalizer(gone, proc { |id| puts "ended #{id == $id}" })
  $id = gone.object_id
end
GC.start
1.times { }
p map.size, map.key?(kept), ref.weakref_alive?
begin
  ref.upcase
rescue WeakRef::RefError => e
  p e.class
end
"#;
    assert_eq!(printed(program, 0, WIDE), "ended true\n1\ntrue\nfalse\nWeakRef::RefError\n");
}

#[test]
fn the_numbers_of_the_collector_are_real() {
    let program = r"
before = GC.count
s = nil
100_000.times { |i| s = i.to_s }
GC.start
p GC.count > before, GC.stat(:count) == GC.count, GC.stat[:total_freed_objects] > 90_000
p GC.disable, GC.disable, GC.enable, GC.enable
x = Class.new
kept = [x.new, x.new]
p ObjectSpace.each_object(x) { }
";
    let expected = "true\ntrue\ntrue\nfalse\ntrue\ntrue\nfalse\n2\n";
    assert_eq!(printed(program, 0, WIDE), expected);
}

#[test]
fn the_limit_is_one_of_live_data() {
    // Each makes more in all than the limit.
    let table = [
        "i = 0; while i < 100_000; s = \"string number #{i}\" * 9; i += 1; end; p s.size",
        "100_000.times { |i| $s = \"string number #{i}\" * 9 }; p $s.size",
        "c = Class.new { def initialize(i) = @i = i }; 200_000.times { |i| c.new(i) }; p 1",
        "100_000.times { |i| { a: i, b: [i] } }; p 1",
        "a = (1..1000).to_a; 200.times { a.map { |x| x.to_s }.select { |s| s.size > 2 } }; p 1",
        "h = Hash.new { |t, k| k.to_s * 30 }; 100_000.times { |i| h[i] }; p 1",
        "b = binding; 2_000.times { |i| eval('x = \"a\" * 9_000; x.size', b) }; p 1",
        "s = 'abc ' * 5_000; 2.times { s.scan(/\\w+/) { |w| w }; s.gsub(/b/) { |w| w.upcase } }; p 1",
    ];
    for program in table {
        let text = printed(program, 0, 16 << 20);
        assert!(!text.contains("Failed"), "{program}: {text}");
    }
    let kept = "a = []; begin; 1_000_000.times { |i| a << i.to_s }; rescue NoMemoryError => e; a = nil; p e.class; end";
    assert_eq!(printed(kept, 0, 24 << 20), "NoMemoryError\n");
}

#[test]
fn what_native_methods_hold_survives_collections_at_every_safepoint() {
    let program = r##"
word = ->(x) { "w" + x.to_s }
a = %w[c a b].map { |x| x + "!" }
p a.sort { |x, y| (x + "") <=> y }, a.sort_by { |x| [x + "k"] }, a.uniq { |x| x.size.to_s }
p a.select { |x| x + "" > "a" }, a.reject { |x| x == "b" + "!" }, a.inject { |x, y| x + y }, a.sum("") { |x| x + "." }
h = { "k" + "1" => "v" + "1", word[2] => word[3] }
p h.map { |k, v| k + v }, h.select { |k, v| v + "" }, h.merge({ "k1" => "n" + "1" }) { |k, x, y| k + x + y }
p h.each_with_object([]) { |(k, v), m| m << k + v }, h.reject! { |k, v| k + "" == "k1" }
p "a-b-c".gsub(/\w/) { |m| $~[0] + m.upcase }, "x1y2".scan(/(\w)(\d)/) { |m| p m.map { |x| x + "" } }
p [[word[1], word[2]], word[3]].then { |(x, y), z| x + y + z }
def f(x, y = "d" + x, *r, k: "k" + y, **o, &b) = [x, y, r, k, o, b&.call("b" + x)]
p f(word[1], *[word[2]], word[3], k: word[4], **{ z: word[5] }) { |x| x + word[6] }
o = Struct.new(:a, :b).new(word[1], word[2])
o.a += word[o.b = "s" + "t"]
p o, (case word[7] when *[word[6], word[7]] then word[8] end)
case { n: [word[1], word[2]], m: word[3] }
in { n: [x, *y], m: /w/ => z } then p [x, y, z]
end
x, (y, *z), o.b = word[1], [word[2], word[3], word[4]], word[5]
p [x, y, z, o.b]
r = begin
  raise word[1]
rescue => e
  begin
    raise word[2]
  rescue => inner
    [e.message, inner.message, inner.cause.message, $!.message]
  ensure
    1.times { word[3] }
  end
end
p r, $!
$word = word
def g
  yield $word[1]
  return $word[2]
ensure
  $word[3]
end
p g { |v| v + "" }, [1, 2].each_slice(1).map { |v| word[v] }, catch(:t) { throw :t, word[4] }
e = [word[1], word[2]].each
p e.next + e.next, (word[1]..word[3]).to_a, "#{word[1]}-#{[word[2]].map { |v| v + "" }}"
t = word[1].then { |s| s << word[2] }
p t, [*[word[1]], *word[2], **{ a: word[3] }], t&.concat(word[4]), (t == word[1] || word[5])
"##;
    let plain = printed(program, 0, WIDE);
    assert!(!plain.contains("Failed"), "{plain}");
    assert_eq!(printed(program, 1, WIDE), plain);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "slots are checked in builds with assertions")]
#[should_panic(expected = "is used after it was freed")]
fn a_use_after_the_end_is_a_panic_while_the_collector_is_tested() {
    let mut vm = machine(&Printed::default(), WIDE);
    vm.set_gc_stress(1);
    let text = vm.str("gone");
    vm.collect();
    vm.text(text);
}
