//! What a machine leaves behind when it ends, and what a program may do for ever in one machine.

#![expect(clippy::disallowed_methods, reason = "tests look at their own process")]

use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fx_host::MemoryHost;
use fx_ruby::{Ended, Hooks, Limits, Options, Vm, on_big_stack};

fn machine() -> Vm {
    Vm::new(Options {
        host: Rc::new(MemoryHost::new()),
        out: Box::new(std::io::sink()),
        err: Box::new(std::io::stderr()),
        limits: Limits::default(),
        hooks: Hooks::default(),
        script: "t.rb".into(),
        argv: Vec::new(),
    })
}

/// One test at a time: what they measure is of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
    pages * 4096
}

/// How much the process grows with each call, after some that warm it up.
fn growth(calls: usize, mut call: impl FnMut(usize)) -> usize {
    for number in 0..calls / 10 {
        call(number);
    }
    let before = resident();
    for number in calls / 10..calls {
        call(number);
    }
    resident().saturating_sub(before) / (calls - calls / 10)
}

/// How much each machine leaves that runs a program of which NUMBER makes a new text.
fn left_by(machines: usize, program: &str) -> usize {
    growth(machines, |number| {
        let mut vm = machine();
        let text = program.replace("NUMBER", &number.to_string());
        assert!(matches!(vm.run_script(text.as_bytes(), "t.rb"), Ended::Exit(0)), "{text}");
    })
}

/// Names, objects, classes and patterns end with their machine. Code does not: it is a tree that
/// lives as long as the process.
#[test]
fn a_machine_that_ends_leaves_little_but_its_code() {
    let _alone = alone();
    let table = [
        ("1", 2_000),
        ("300.times { |i| \"some name that is nowhere else #{i} NUMBER\".to_sym }", 4_000),
        ("20.times { |i| /some pattern #{i} NUMBER/ =~ 'x' }", 4_000),
        (
            "300.times { |i| 'x' * 1000; Class.new; Object.new.instance_variable_set(\"@v#{i}\", i) }",
            4_000,
        ),
        (
            "2_000.times { |i| Object.class_eval { i }; Object.new.respond_to?(\"name#{i}NUMBER\") }",
            40_000,
        ),
        // A text's tree, of some 2 KB.
        ("5.times { |i| eval \"a = #{i} + NUMBER; [a, a].map { |x| x + 1 }\" }", 5 * 3_000),
    ];
    let ok = on_big_stack(move || {
        for (program, most) in table {
            let each = left_by(1_000, program);
            assert!(each < most, "{program}: {each} bytes stay of each machine");
        }
    });
    assert!(ok.is_some());
}

/// What a server's compiler or a long run does again and again takes no more memory each time.
#[test]
fn a_long_run_does_not_grow() {
    let _alone = alone();
    let table = [
        ("Object.new.instance_eval { 1 }", 40),
        ("Object.new.instance_exec(i) { |x| x }", 40),
        ("Object.new.instance_eval('1')", 40),
        ("o = Object.new; class << o; A = 1; end", 40),
        ("String.class_eval { 1 }; self.instance_eval { 2 }", 40),
        ("eval('1 + 1')", 40),
        ("'x' =~ /a#{i}/", 40),
        ("i.respond_to?(:\"to_s#{i % 7}\")", 40),
    ];
    let ok = on_big_stack(move || {
        for (work, most) in table {
            let mut vm = machine();
            let warm = format!("30_000.times {{ |i| {work} }}; GC.start; 1.times {{ }}");
            assert!(matches!(vm.run_script(warm.as_bytes(), "t.rb"), Ended::Exit(0)), "{work}");
            let before = resident();
            let long = warm.replace("30_000", "150_000");
            assert!(matches!(vm.run_script(long.as_bytes(), "t.rb"), Ended::Exit(0)), "{work}");
            let each = resident().saturating_sub(before) / 150_000;
            assert!(each < most, "{work}: {each} bytes stay each time");
        }
    });
    assert!(ok.is_some());
}

/// Objects that each have a variable of their own are wide, as they share one layout: that is
/// counted, so the limit holds.
#[test]
fn the_limit_of_memory_counts_instance_variables() {
    let _alone = alone();
    let ended = on_big_stack(|| {
        let mut vm = machine();
        vm.limits.heap = 64 << 20;
        let text = b"a = []; begin; 20_000.times { |i| o = Object.new; o.instance_variable_set(\"@v#{i}\", 1); a << o }
rescue NoMemoryError; exit 7; end";
        let before = resident();
        let ended = vm.run_script(text, "t.rb");
        (matches!(ended, Ended::Exit(7)), resident() - before)
    });
    let (told, grown) = ended.expect("the run ends");
    assert!(told);
    assert!(grown < 256 << 20, "{grown} bytes");
}
