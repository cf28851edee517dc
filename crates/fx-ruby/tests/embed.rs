//! The embedding seam as the languages use it: natives and host objects, values both ways,
//! what a program reads and runs seen with its line, and limits that end in an exception.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use fx_host::{Edits, MemoryHost, WriteOptions};
use fx_ruby::object::c;
use fx_ruby::{Args, Ended, Hooks, HostObject, Limits, Options, R, Vm, on_big_stack};
use fx_value::Value as Data;

fn machine(host: MemoryHost, hooks: Hooks, limits: Limits) -> Vm {
    Vm::new(Options {
        host: Rc::new(host),
        out: Box::new(std::io::sink()),
        err: Box::new(std::io::sink()),
        limits,
        hooks,
        script: "t.rb".into(),
        argv: Vec::new(),
    })
}

fn plain() -> Vm {
    machine(MemoryHost::new(), Hooks::default(), Limits::default())
}

/// Phase and kind, what was looked at, and the offset of the code that looked.
type Seen = Rc<RefCell<Vec<(String, String, u32)>>>;

struct Counter(RefCell<i64>);

impl HostObject for Counter {
    fn name(&self) -> &'static str {
        "Counter"
    }
    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> R {
        if number == 0 {
            let by = vm.opt(args, 0).and_then(fx_ruby::Value::fixnum).unwrap_or(1);
            *self.0.borrow_mut() += by;
        } else {
            vm.attribute_read(b"counter.value");
        }
        Ok(vm.int(*self.0.borrow()))
    }
    fn trace(&self, _: &mut dyn FnMut(fx_ruby::Value)) {}
}

#[test]
fn ruby_calls_natives_and_host_objects_and_is_called_back() {
    let ok = on_big_stack(|| {
        let mut vm = plain();
        let class = vm.define_class(c::OBJECT, "Counter", c::OBJECT);
        vm.define_host_method(class, "add", 0);
        vm.define_host_method(class, "value", 1);
        vm.define_singleton(
            class,
            "twice",
            |vm, a| {
                let v = vm.arg(a, 0);
                let n = v.fixnum().unwrap_or(0);
                Ok(vm.int(n * 2))
            },
            1,
            1,
        );
        let counter = Rc::new(Counter(RefCell::new(0)));
        let object = vm.host_object(class, Rc::<Counter>::clone(&counter));
        let name = vm.intern("COUNTER");
        vm.const_set(c::OBJECT, name, object);
        let text = b"COUNTER.add; COUNTER.add(Counter.twice(20)); def shout(s) = s.upcase + COUNTER.value.to_s";
        assert!(matches!(vm.run_script(text, "t.rb"), Ended::Exit(0)));
        assert_eq!(*counter.0.borrow(), 41);
        let (main, word) = (vm.main, vm.str("hey"));
        let said = vm
            .call_name(main, "shout", &[word])
            .map_err(|u| vm.explain(u))
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(vm.text(said), "HEY41");
        let told = vm.call_name(main, "no_such", &[]).map_err(|u| vm.explain(u));
        assert!(told.is_err_and(|text| text.contains("undefined method `no_such'")));
    });
    assert!(ok.is_some());
}

#[test]
fn data_crosses_both_ways() {
    let ok = on_big_stack(|| {
        let mut vm = plain();
        let data = Data::List(vec![
            Data::Int(7),
            Data::Float(2.5),
            Data::Bool(true),
            Data::Undef,
            Data::from("text"),
            Data::Map([("k".into(), Data::List(vec![]))].into_iter().collect()),
        ]);
        let value =
            vm.from_data(&data).map_err(|u| vm.explain(u)).unwrap_or_else(|e| panic!("{e}"));
        let shown = vm.inspect_string(value).unwrap_or_default();
        assert_eq!(shown, "[7, 2.5, true, nil, \"text\", {\"k\"=>[]}]");
        assert_eq!(vm.to_data(value).map_err(|u| vm.explain(u)), Ok(data));
    });
    assert!(ok.is_some());
}

#[test]
fn what_a_program_reads_and_runs_is_seen_with_phase_and_line() {
    let ok = on_big_stack(|| {
        let host = MemoryHost::new();
        host.write(Path::new("/etc-motd"), b"hi", &WriteOptions::default()).expect("a fake disk");
        let seen = Seen::default();
        let note = |kind: &'static str, seen: &Seen| {
            let seen = Rc::clone(seen);
            move |phase: &str, what: &[u8], at: (u32, u32)| {
                seen.borrow_mut().push((
                    format!("{phase} {kind}"),
                    String::from_utf8_lossy(what).into_owned(),
                    at.1,
                ));
            }
        };
        let command = note("command", &seen);
        let hooks = Hooks {
            phase: "compile",
            on_file: Some(Box::new(note("file", &seen))),
            on_env: Some(Box::new(note("env", &seen))),
            on_attribute: Some(Box::new(note("attribute", &seen))),
            on_command: Some(Box::new(move |phase, line, at| command(phase, line.as_bytes(), at))),
            ..Hooks::default()
        };
        let mut vm = machine(host, hooks, Limits::default());
        let class = vm.define_class(c::OBJECT, "Counter", c::OBJECT);
        vm.define_host_method(class, "value", 1);
        let object = vm.host_object(class, Rc::new(Counter(RefCell::new(0))));
        let name = vm.intern("COUNTER");
        vm.const_set(c::OBJECT, name, object);
        let text = "ENV['HOME']\nFile.exist?('/etc-motd')\nCOUNTER.value\n`uname -r`\n";
        vm.run_script(text.as_bytes(), "t.rb");
        let line = |offset: u32| text[..offset as usize].lines().count().max(1);
        let seen: Vec<(String, String, usize)> = seen
            .borrow()
            .iter()
            .map(|(kind, what, at)| (kind.clone(), what.clone(), line(at + 1)))
            .collect();
        let expected = [
            ("compile env", "HOME", 1),
            ("compile file", "/etc-motd", 2),
            ("compile attribute", "counter.value", 3),
            ("compile command", "uname -r", 4),
        ];
        let expected: Vec<(String, String, usize)> =
            expected.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), *c)).collect();
        assert_eq!(seen, expected);
    });
    assert!(ok.is_some());
}

#[test]
fn limits_of_time_heap_and_depth_end_in_an_exception_with_its_line() {
    let table = [
        ("loop { }", "Timeout::Error"),
        ("def f = f\nf", "SystemStackError"),
        ("a = []\nloop { a << 'x' * 100_000 }", "NoMemoryError"),
    ];
    let ok = on_big_stack(move || {
        for (program, class) in table {
            let host = MemoryHost::new();
            host.tick(Duration::from_millis(1));
            let limits =
                Limits { time: Some(Duration::from_secs(5)), heap: 32 << 20, depth: 1_000 };
            let mut vm = machine(host, Hooks::default(), limits);
            match vm.run_script(program.as_bytes(), "t.rb") {
                Ended::Failed(report) => {
                    assert!(report.contains(class) && report.starts_with("t.rb:"), "{report}");
                }
                other => panic!("{program} ended with {other:?}"),
            }
        }
    });
    assert!(ok.is_some());
}

#[test]
fn a_machine_that_stays_for_long_collects_often() {
    let ok = on_big_stack(|| {
        let collections = |frugal: bool| {
            let mut vm = plain();
            if frugal {
                vm.set_frugal();
            }
            match vm.run_script(b"500.times { 'x' * 8_000 }\nexit GC.count", "t.rb") {
                Ended::Exit(code) => code,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(collections(false), 0);
        assert!(collections(true) >= 2);
    });
    assert!(ok.is_some());
}
