//! Programs and what CRuby 3.1.2 printed for them, one file each.
//!
//! `BLESS=/usr/bin/ruby cargo test -p fx-ruby --test programs` records them anew.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use fx_cases::{Case, Given, Giver};
use fx_ruby::{Ended, Hooks, Limits, Options, Vm};

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

fn give(case: &Case, giver: Giver<'_>) -> Given {
    let program = case.section("t.rb");
    let output = match giver {
        Giver::Ours => ours(program),
        Giver::Original(ruby) => original(ruby, program),
    };
    vec![("output", output)]
}

fn ours(program: &str) -> String {
    let out = Printed::default();
    let mut vm = Vm::new(Options {
        host: Rc::new(fx_host::OsHost::new()),
        out: Box::new(out.clone()),
        err: Box::new(Printed::default()),
        limits: Limits::default(),
        hooks: Hooks::default(),
        script: "t.rb".into(),
        argv: Vec::new(),
    });
    let ended = vm.run_script(program.as_bytes(), "t.rb");
    let mut text = String::from_utf8_lossy(&out.0.borrow()).into_owned();
    if let Ended::Failed(report) = ended {
        text.push_str(&report);
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "the original is run from outside")]
fn original(ruby: &Path, program: &str) -> String {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    std::fs::write(dir.path().join("t.rb"), program).expect("it can be written");
    let output = std::process::Command::new(ruby).arg("t.rb").current_dir(dir.path()).output();
    String::from_utf8_lossy(&output.expect("it runs").stdout).into_owned()
}

fn main() -> ExitCode {
    fx_cases::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"), give)
}
