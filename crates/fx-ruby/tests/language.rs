//! Small programs in tables and what Ruby prints for them; the expectations come from CRuby
//! 3.1. Each runs on its own, on a thread with a large stack.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use fx_ruby::{Ended, Hooks, Limits, Options, Vm, Wording, on_big_stack};

#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(program: &str, limits: Limits) -> String {
    run_worded(program, limits, Wording::Ruby31)
}

fn run_worded(program: &str, limits: Limits, wording: Wording) -> String {
    let program = program.to_owned();
    on_big_stack(move || {
        let out = Sink::default();
        let mut vm = Vm::new(Options {
            host: Rc::new(fx_host::OsHost::new()),
            out: Box::new(out.clone()),
            err: Box::new(Sink::default()),
            limits,
            hooks: Hooks::default(),
            script: "t.rb".into(),
            argv: Vec::new(),
        });
        vm.wording = wording;
        let ended = vm.run_script(program.as_bytes(), "t.rb");
        let mut text = String::from_utf8_lossy(&out.0.borrow()).into_owned();
        if let Ended::Failed(report) = ended {
            text.push_str(&report);
        }
        text
    })
    .expect("the thread ends")
}

fn check(program: &str, expected: &str) {
    assert_eq!(run(program, Limits::default()).trim_end(), expected, "{program}");
}

#[test]
fn language_features_print_what_ruby_prints() {
    let table = [
        (
            "require 'find'; a = []; Find.find('/nowhere') { |p| a << p } rescue puts $!.message; p a",
            "No such file or directory - /nowhere\n[]",
        ),
        (
            "begin; File.read('/nowhere'); rescue SystemCallError => e; puts e.message; end",
            "No such file or directory @ rb_sysopen - /nowhere",
        ),
        ("puts [1, 2, 3].map { |x| x * 2 }.sum", "12"),
        (
            "def f(a, b = 2, *c, d:, e: 5, **g) = [a, b, c, d, e, g]; p f(1, d: 4, z: 9)",
            "[1, 2, [], 4, 5, {:z=>9}]",
        ),
        (
            "case { name: 'x', n: [1, 2] }\nin { name: String => s, n: [_, b] } then p s, b end",
            "\"x\"\n2",
        ),
        ("x = 1; eval('x += 1'); p x, binding.local_variables", "2\n[:x]"),
        (
            "begin; raise 'a'; rescue => e; begin; raise 'b'; rescue => f; p f.cause.message; end; end",
            "\"a\"",
        ),
        ("p [[1, [2, 3]], [4, [5, 6]]].map { |a, (b, c)| a + b + c }", "[6, 15]"),
        ("p catch(:done) { 10.times { |i| throw :done, i if i == 3 }; :never }", "3"),
        (
            "class A; def m = :a; end; module P; def m = [:p, super]; end; A.prepend(P); p A.new.m",
            "[:p, :a]",
        ),
        (
            "p((1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(2))",
            "[6, 12]",
        ),
        (
            "e = [1, 2].each; p e.next, e.next; begin; e.next; rescue StopIteration; p :end; end",
            "1\n2\n:end",
        ),
        (
            "p 2**100, -7 / 2, -7 % 3, 10.divmod(-3), 1e15, 0.1 + 0.2",
            "1267650600228229401496703205376\n-4\n2\n[-4, -2]\n1.0e+15\n0.30000000000000004",
        ),
        (
            "p 'héllo'.reverse, 'a-b_c'.tr('-_', '  '), 'x=1;y=2'.scan(/(\\w)=(\\d)/)",
            "\"olléh\"\n\"a b c\"\n[[\"x\", \"1\"], [\"y\", \"2\"]]",
        ),
        (
            "h = Hash.new { |k, v| k[v] = v * 2 }; h[3]; p h, h.to_a, h.invert",
            "{3=>6}\n[[3, 6]]\n{6=>3}",
        ),
        (
            "nil.foo",
            "t.rb:1:in `<main>': undefined method `foo' for nil:NilClass (NoMethodError)\n\nnil.foo\n   ^^^^",
        ),
        (
            "puts format('%-5s|%05.1f|%+d|%x|%s', 'ab', 3.14159, 5, 255, :sym)",
            "ab   |003.1|+5|ff|sym",
        ),
        (
            "S = Struct.new(:a, :b); p S.new(1, 2), S.new(1, 2) == S.new(1, 2)",
            "#<struct S a=1, b=2>\ntrue",
        ),
        (
            "require 'json'; puts JSON.generate({ 'a' => [1, nil, 2.5] }); p JSON.parse('{\"b\": [true]}')",
            "{\"a\":[1,null,2.5]}\n{\"b\"=>[true]}",
        ),
        (
            "require 'yaml'; p YAML.load(\"a: 017\\nb: [x, yes]\"); puts({ 'k' => ['v', 1] }.to_yaml)",
            "{\"a\"=>15, \"b\"=>[\"x\", true]}\n---\nk:\n- v\n- 1",
        ),
        (
            "require 'erb'; x = 3; puts ERB.new(\"<% x.times do |i| -%>\\nl<%= i %>\\n<% end -%>\\n\", trim_mode: '-').result(binding)",
            "l0\nl1\nl2",
        ),
    ];
    for (program, expected) in table {
        check(program, expected);
    }
}

#[test]
fn bombs_end_in_the_right_exception() {
    let quick = Limits { time: Some(Duration::from_secs(2)), heap: 64 << 20, depth: 10_000 };
    let table = [
        (
            "def f(n) = f(n + 1); begin; f(0); rescue SystemStackError => e; p e.message; end",
            "\"stack level too deep\"",
        ),
        ("begin; loop { }; rescue Exception => e; p e.class; end", "Timeout::Error"),
        (
            "begin; a = []; loop { a << 'x' * 1_000_000 }; rescue NoMemoryError => e; p e.class; end",
            "NoMemoryError",
        ),
        ("begin; 'a' * (1 << 38); rescue NoMemoryError => e; p e.class; end", "NoMemoryError"),
        (
            "begin; /\\A(a|aa)+\\1?\\z/ =~ 'a' * 60 + 'b'; p :ended; rescue RegexpError => e; p :stopped; end",
            ":stopped",
        ),
        (
            "begin; puts 1 << 10**9; rescue RangeError => e; p e.message; end",
            "\"integer too big (1000000001 bits)\"",
        ),
        ("begin; eval('[' * 1_000_000); rescue SyntaxError => e; p e.class; end", "SyntaxError"),
    ];
    for (program, expected) in table {
        let printed = run(program, quick);
        assert_eq!(printed.trim_end(), expected, "{program}");
    }
}

#[test]
fn messages_can_be_worded_as_ruby_3_4_words_them() {
    let program = r#"
class Foo
  def bar = nil.oops
  def self.baz = yield
end
p({ a: 1, "b" => 2, :"c d" => 3, :+ => 4, 5 => nil })
[-> { Foo.new.bar }, -> { Foo.new.zip }, -> { zap }, -> { Foo.zip }, -> { Kernel.zip }, -> { Foo.instance_method(:q) }].each do |f|
  f.call
rescue NameError => e
  puts e.message
end
begin
  Foo.new.bar
rescue => e
  puts e.backtrace.first
end
"#;
    expect_test::expect![[r#"
        {a: 1, "b" => 2, "c d": 3, "+": 4, 5 => nil}
        undefined method 'oops' for nil
        undefined method 'zip' for an instance of Foo
        undefined local variable or method 'zap' for main
        undefined method 'zip' for class Foo
        undefined method 'zip' for module Kernel
        undefined method 'q' for class 'Foo'
        t.rb:3:in 'Foo#bar'
    "#]]
    .assert_eq(&run_worded(program, Limits::default(), Wording::Ruby34));
}

#[test]
fn a_method_made_of_a_name_takes_its_receiver_as_an_argument() {
    check(
        "class A; define_method(:m, &:to_s); define_method(:k, &:+); end\np A.new.m(5), A.new.k(1, 2)\nbegin; A.new.m; rescue ArgumentError => e; p e.message; end",
        "\"5\"\n3\n\"no receiver given\"",
    );
}

#[test]
fn one_block_as_several_methods_goes_up_by_each_name() {
    check(
        "class B; def a(x) = [:a, x]; def b(x) = [:b, x]; end\nclass C < B; %i{a b}.each { |m| define_method(m) { |*args| super(*args) } }; end\np C.new.a(1), C.new.b(2)",
        "[:a, 1]\n[:b, 2]",
    );
}
