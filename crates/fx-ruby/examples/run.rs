//! Runs one Ruby program: a small binary to measure and to profile the runtime with, without
//! the rest of fixpoint. `cargo build --release -p fx-ruby --example run`.

use std::io::Write;
use std::rc::Rc;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use fx_ruby::{Ended, Hooks, Limits, Options, Vm, on_big_stack};

fn main() {
    let mut words = std::env::args().skip(1);
    let mut include = Vec::new();
    let mut file = words.next();
    while let Some(directory) = file.as_deref().and_then(|word| word.strip_prefix("-I")) {
        include.push(directory.as_bytes().to_vec());
        file = words.next();
    }
    let Some(file) = file else {
        complain("usage: run [-IDIRECTORY]... FILE [ARGUMENT]...");
        return;
    };
    let argv = words.map(String::into_bytes).collect();
    let code = on_big_stack(move || run(&file, &include, argv));
    std::process::exit(code.unwrap_or(70));
}

fn complain(message: &str) {
    drop(std::io::stderr().write_all(format!("{message}\n").as_bytes()));
}

fn run(file: &str, include: &[Vec<u8>], argv: Vec<Vec<u8>>) -> i32 {
    let host: Rc<dyn fx_host::Host> = Rc::new(fx_host::OsHost::new());
    let Ok(text) = host.read(&host.cwd().join(file)) else {
        complain(&format!("cannot read {file}"));
        return 1;
    };
    let mut vm = Vm::new(Options {
        host,
        out: Box::new(std::io::BufWriter::with_capacity(1 << 16, std::io::stdout())),
        err: Box::new(std::io::stderr()),
        limits: Limits::default(),
        hooks: Hooks::default(),
        script: file.to_owned(),
        argv,
    });
    vm.configure(include, Some(false), false);
    let code = match vm.run_script(&text, file) {
        Ended::Exit(code) => code,
        Ended::Failed(report) => {
            drop(std::io::stderr().write_all(report.as_bytes()));
            1
        }
        Ended::Spent(bound) => {
            drop(writeln!(std::io::stderr(), "{file}: {bound}"));
            1
        }
    };
    vm.flush_output();
    std::mem::forget(vm);
    code
}
