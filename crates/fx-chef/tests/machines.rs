//! Resources that change a system, on a fake machine: each case is a recipe, what the machine has
//! and answers (`machine.json`), and what is expected (`trace`): the steps, the commands in their
//! order with what they read, and the files that are different afterwards.

#[path = "support/client.rs"]
mod client;
#[path = "support/machines.rs"]
mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use fx_cases::{Case, Given, Giver};
use fx_engine::Ledger;
use fx_host::{MemoryHost, Stdin};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use client::{lay_out, request, run};
use common::{line, machine};

fn once(text: &str, case: &J) -> String {
    let host = Rc::new(machine(case));
    lay_out(&host, text, case);
    let before = host.snapshot();
    let mut request = request();
    if case["save"] == json!(true) {
        request.options.remove("no_save");
    }
    let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
    let (code, said) = run(Rc::<MemoryHost>::clone(&host), &ledger, &sources, request);
    let mut out = ledger.trace(&sources);
    for line in said.lines() {
        // Only what went wrong: the time of a log line is the fake clock's.
        if let Some((_, text)) = line.split_once("] ")
            && ["ERROR:", "FATAL:", "WARN:"].iter().any(|level| text.starts_with(level))
        {
            let _ = writeln!(out, "{text}");
        }
    }
    for spec in host.calls() {
        let _ = writeln!(out, "$ {}", line(&spec));
        if let Stdin::Bytes(input) = &spec.stdin {
            for line in String::from_utf8_lossy(input).lines().take(16) {
                let _ = writeln!(out, "< {line}");
            }
        }
    }
    let old: Vec<&str> = before.lines().collect();
    let after = host.snapshot();
    for line in after.lines().filter(|line| !old.contains(line)) {
        let _ = writeln!(out, "+ {line}");
    }
    for line in &old {
        let path = line.split(' ').next().unwrap_or_default();
        if !after.lines().any(|now| now.split(' ').next() == Some(path)) {
            let _ = writeln!(out, "- {path}");
        }
    }
    let _ = writeln!(out, "exit {code}");
    out
}

fn give(case: &Case, _: Giver<'_>) -> Given {
    vec![("trace", once(case.section("recipe.rb"), &common::machine_of(case)))]
}

fn main() -> ExitCode {
    fx_cases::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines"), give)
}
