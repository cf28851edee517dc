//! A bound that a program goes on past: the first time it is an exception, the second time the
//! run ends, whatever the program has put in the way.

use std::rc::Rc;
use std::time::{Duration, Instant};

use fx_host::{Host, MemoryHost, OsHost};
use fx_ruby::{Bound, Ended, Hooks, Limits, Options, Vm, on_big_stack};

const TIME: Duration = Duration::from_millis(200);
/// The limit and what is left after it are 0.4 s; the rest is for a busy machine and a slow build.
const PATIENCE: Duration = Duration::from_mins(2);
const HEAP: usize = 24 << 20;
const SPENT: i32 = -1;

fn machine(host: Rc<dyn Host>, limits: Limits, said: &Said) -> Vm {
    Vm::new(Options {
        host,
        out: Box::new(said.clone()),
        err: Box::new(std::io::sink()),
        limits,
        hooks: Hooks::default(),
        script: "t.rb".into(),
        argv: Vec::new(),
    })
}

#[derive(Clone, Default)]
struct Said(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread writes").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Said {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("it has ended")).into_owned()
    }
}

#[derive(Clone, Copy)]
enum Clock {
    Real,
    Counted,
}

/// What the program printed and how it ended: its status, or the bound as `SPENT`.
fn ended(program: &str, limits: Limits, clock: Clock) -> (String, Option<Bound>, i32) {
    let text = program.to_owned();
    let began = Instant::now();
    let result = on_big_stack(move || {
        let said = Said::default();
        let host: Rc<dyn Host> = match clock {
            Clock::Real => Rc::new(OsHost::new()),
            Clock::Counted => {
                let host = MemoryHost::new();
                host.tick(Duration::from_millis(1));
                Rc::new(host)
            }
        };
        let mut vm = machine(host, limits, &said);
        let (bound, code) = match vm.run_script(text.as_bytes(), "t.rb") {
            Ended::Exit(code) => (None, code),
            Ended::Failed(_) => (None, 1),
            Ended::Spent(bound) => (Some(bound), SPENT),
        };
        (said.text(), bound, code)
    });
    let took = began.elapsed();
    assert!(took < PATIENCE, "{program}: {took:?}");
    result.unwrap_or_else(|| panic!("{program}: the runtime panicked"))
}

fn timed(program: &str) -> (String, Option<Bound>, i32) {
    ended(program, Limits { time: Some(TIME), ..Limits::default() }, Clock::Real)
}

/// The same by a clock that moves a millisecond with each look at it, however busy the machine is.
fn counted(program: &str) -> (String, Option<Bound>, i32) {
    ended(program, Limits { time: Some(TIME), ..Limits::default() }, Clock::Counted)
}

fn bounded(program: &str) -> (String, Option<Bound>, i32) {
    let limits = Limits { time: None, heap: HEAP, ..Limits::default() };
    ended(program, limits, Clock::Counted)
}

/// Ways to go on after the exception, each around `WORK`, which does not end by itself.
const SHAPES: &[&str] = &[
    "begin; WORK; rescue Exception => e; retry; end",
    "begin; WORK; rescue Timeout::Error, NoMemoryError, StandardError; retry; end",
    "begin; WORK; ensure; WORK; end",
    "loop { begin; WORK; rescue Exception; end }",
    "while true; begin; WORK; rescue Exception; next; end; end",
    "until false; begin; WORK; ensure; next; end; end",
    "def f; WORK; ensure; return f; end; f",
    "def f; yield; rescue Exception; f { WORK }; end; f { WORK }",
    "begin; WORK; rescue Exception; begin; WORK; rescue Exception; begin; WORK; rescue Exception; WORK; end; end; end",
    "catch(:t) { begin; WORK; ensure; throw :t; end } while true",
    "catch(:t) { begin; WORK; rescue Exception; throw :t; end }; WORK",
    "at_exit { puts 'no'; WORK }; at_exit { begin; WORK; rescue Exception; retry; end }; begin; WORK; rescue Exception; retry; end",
    "END { puts 'no' }; begin; WORK; rescue Exception; retry; end",
    "begin; WORK; rescue Exception; exit! 0 if false; retry; end; exit 0",
    "Thread.new { begin; WORK; rescue Exception; retry; end }.join",
    "t = Thread.new { begin; WORK; ensure; WORK; end }; begin; t.join; rescue Exception; retry; end",
    "q = Queue.new; Thread.new { loop { begin; WORK; rescue Exception; end } }; loop { begin; q.pop; rescue Exception; end }",
    "10.times { Thread.new { loop { begin; WORK; rescue Exception; end } } }; begin; WORK; rescue Exception; retry; end",
    "f = Fiber.new { begin; WORK; rescue Exception; retry; end }; f.resume",
    "loop { begin; Fiber.new { begin; WORK; ensure; Fiber.yield; end }.resume; rescue Exception; end }",
    "e = Enumerator.new { |y| begin; WORK; rescue Exception; retry; end }; begin; e.next; rescue Exception; retry; end",
    "Thread.new { f = Fiber.new { begin; WORK; rescue Exception; retry; end }; f.resume }.value",
    "loop { begin; [3, 1, 2].sort_by { |x| WORK }; rescue Exception; end }",
    "loop { begin; [3, 1, 2].sort { |x, y| WORK }; rescue Exception; end }",
    "loop { begin; 'aaa'.gsub(/a/) { WORK }; rescue Exception; end }",
    "loop { begin; { a: 1 }.each { WORK }; rescue Exception; end }",
    "loop { begin; Hash.new { WORK }[1]; rescue Exception; end }",
    "loop { begin; [1].each_with_object([]) { WORK }; rescue Exception; end }",
    "class C; include Comparable; def <=>(o) = (WORK); end; loop { begin; C.new == C.new; rescue Exception; end }",
    "class C; def <=>(o) = (WORK); def succ = self; end; loop { begin; (C.new..C.new) === C.new; rescue Exception; end }",
    "class C; def ==(o) = (WORK); end; loop { begin; [C.new].include?(1); rescue Exception; end }",
    "class C; def hash = (WORK); end; loop { begin; { C.new => 1 }; rescue Exception; end }",
    "class C; def to_s = (WORK); end; loop { begin; \"#{C.new}\"; rescue Exception; end }",
    "class C; def inspect = (WORK); end; loop { begin; C.new.missing; rescue Exception; end }",
    "class C; def message = (WORK); end; class E < StandardError; def message = (WORK); end; loop { begin; raise E; rescue Exception => e; begin; e.full_message; rescue Exception; end; end }",
    "class C; def method_missing(*) = (WORK); end; loop { begin; C.new.x; rescue Exception; end }",
    "class C; def respond_to?(*) = (WORK); end; loop { begin; [C.new].flatten; rescue Exception; end }",
    "class C; def respond_to_missing?(*) = (WORK); end; loop { begin; defined?(C.new.x.y); C.new.respond_to?(:x); rescue Exception; end }",
    "class C; def coerce(o) = (WORK); end; loop { begin; 1 + C.new; 1 <=> C.new; rescue Exception; end }",
    "class C; def to_str = (WORK); end; loop { begin; Integer(C.new, exception: false); Encoding.compatible?(C.new, 1); rescue Exception; end }",
    "class C; def self.===(e) = (WORK); end; loop { begin; begin; raise 'x'; rescue C; end; rescue Exception; end }",
    "def self.m = (WORK); loop { begin; p(m) if defined?(m.x); m; rescue Exception; end }",
    "ObjectSpace.define_finalizer(Object.new, proc { WORK }); begin; GC.start; WORK; rescue Exception; retry; end",
    "define_method(:m) { begin; WORK; rescue Exception; retry; end } rescue self.class.send(:define_method, :m) { begin; WORK; rescue Exception; retry; end }; m",
    "o = Object.new; def o.each; loop { begin; WORK; rescue Exception; end }; end; o.extend(Enumerable); o.to_a",
    "instance_eval('begin; WORK; rescue Exception; retry; end')",
    "trap('EXIT') { puts 'no' }; begin; WORK; rescue Exception; retry; end",
    "require 'timeout'; loop { begin; Timeout.timeout(100) { WORK }; rescue Exception; end }",
    "require 'timeout'; begin; Timeout.timeout(100, ArgumentError) { WORK }; rescue Exception; retry; end",
    "m = Mutex.new; begin; m.synchronize { WORK }; rescue Exception; retry; end",
    "tp = TracePoint.new(:raise) { WORK }; tp.enable; begin; WORK; rescue Exception; retry; end",
    "begin; WORK; rescue *(WORK; []); ensure; WORK; end while true",
    "x = (WORK rescue (WORK rescue WORK)) while true",
    "def r; WORK; rescue Exception; redo_it { r }; end; def redo_it = yield; r",
    "[1].each { begin; WORK; rescue Exception; redo; end }",
];

fn around(shape: &str, work: &str) -> String {
    format!(
        "module Timeout; class Error < RuntimeError; end; end\n{}\nputs 'reached'",
        shape.replace("WORK", work)
    )
}

#[test]
fn a_program_that_goes_on_past_its_time_ends() {
    for shape in SHAPES {
        let (said, bound, code) = timed(&around(shape, "loop { }"));
        assert_eq!((bound, code), (Some(Bound::Time), SPENT), "{shape}: {said}");
        assert_eq!(said, "", "{shape}");
    }
}

#[test]
fn other_work_is_ended_by_time_as_well() {
    let works = [
        "while true; end",
        "sleep",
        "sleep 1000",
        "1.step { }",
        "(1..).each { |x| x }",
        "[1].cycle { }",
        "'a'.upto('z' * 20) { }",
        "Thread.pass while true",
        "Queue.new.pop if false; (0..Float::INFINITY).lazy.map { |x| x }.each { }",
        "system('sleep 1000') while true",
        "begin; raise 'x'; rescue; end while true",
        "def d(x) = d(x + 1); begin; d(1); rescue SystemStackError; end while true",
        "def g; g; rescue SystemStackError; g; end; g",
        "eval('while true; end')",
        "('a' * 30 + 'b') =~ /(a+)+$/ while true",
        "x = 'ab' * 1000; x.gsub(/a/) { 'c' } while true",
        "[*1..1000].permutation { }",
        "catch(:t) { throw :t } while true",
        "{}.fetch(1) rescue 1 while true",
        "Integer('x', exception: false) while true",
    ];
    for work in works {
        let program = format!("begin; {work}; rescue Exception => e; retry; end; puts 'reached'");
        let (said, bound, _) = timed(&program);
        assert_eq!((said.as_str(), bound), ("", Some(Bound::Time)), "{program}");
    }
}

#[test]
fn a_program_that_takes_more_memory_after_it_was_told_ends() {
    let work = "a = []; 1_000_000.times { a << \"some text\" * 200 }";
    for shape in SHAPES {
        // A plain `rescue` does not take this exception.
        if shape.starts_with("x = (WORK rescue") {
            continue;
        }
        let (said, bound, code) = bounded(&around(shape, work));
        assert_eq!((bound, code), (Some(Bound::Memory), SPENT), "{shape}: {said}");
        assert_eq!(said, "", "{shape}");
    }
}

#[test]
fn the_first_crossing_is_an_exception_and_leaves_room_to_clean_up() {
    let loops =
        "begin; loop { }; rescue Timeout::Error => e; puts e.message; ensure; puts 'ensured'; end";
    assert_eq!(counted(loops), ("execution expired\nensured\n".to_owned(), None, 0));
    let unrescued = "at_exit { puts 'at exit' }; begin; loop { }; ensure; puts 'ensured'; end";
    assert_eq!(counted(unrescued), ("ensured\nat exit\n".to_owned(), None, 1));
    let grows = "at_exit { puts 'at exit' }; a = []
begin; loop { a << 'x' * 1000 }; rescue NoMemoryError => e; a = nil; puts e.class; end
10_000.times { |i| i.to_s * 10 }; puts 'done'";
    assert_eq!(bounded(grows), ("NoMemoryError\ndone\nat exit\n".to_owned(), None, 0));
}

/// `Timeout.timeout` inside a run with a limit is its own affair, before and after.
#[test]
fn a_timeout_of_the_program_is_not_the_limit_of_the_run() {
    let program = "require 'timeout'
5.times { begin; Timeout.timeout(0.005) { loop { } }; rescue Timeout::Error => e; puts e.message; end }
begin; Timeout.timeout(3600) { loop { } }; rescue Timeout::Error; puts 'limit'; end";
    assert_eq!(counted(program), ("execution expired\n".repeat(5) + "limit\n", None, 0));
}

/// An embedder sees the end as a value, and the machine runs nothing any more.
#[test]
fn a_machine_that_is_spent_says_so_and_refuses_every_call() {
    let ok = on_big_stack(|| {
        let said = Said::default();
        let mut vm =
            machine(Rc::new(OsHost::new()), Limits { heap: HEAP, ..Limits::default() }, &said);
        let text = "def grow = begin; a = []; loop { a << 'x' * 100 }; rescue Exception; retry; end
def more = (puts 'no')";
        assert!(vm.run_text(text.as_bytes(), "t.rb").is_ok());
        assert_eq!(vm.spent(), None);
        let main = vm.main;
        assert!(vm.call_name(main, "grow", &[]).is_err());
        assert_eq!(vm.spent(), Some(Bound::Memory));
        assert!(vm.take_raise().is_none());
        assert!(vm.call_name(main, "more", &[]).is_err());
        assert!(vm.run_text(b"puts 'no'; more; puts 'no'", "t.rb").is_err());
        assert_eq!(said.text(), "");
    });
    assert!(ok.is_some());
}
