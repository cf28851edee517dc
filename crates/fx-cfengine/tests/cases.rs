//! Cases: policies with the order in which their promises must be kept.
//!
//! A case is `tests/cases/NAME.cf`. Lines `#! key: value` at its top say what to run:
//! `define`, `bundles`, `program PATH CODE`, `file PATH TEXT`, `reasons`, `check`,
//! `simulate MODE`. A line `#=== PATH` begins
//! another policy file. What the run did stands in `NAME.trace`: the steps of the
//! evaluation, classes and variables as they come, promises with pass, reason and outcome,
//! reports, messages. `UPDATE_CASES=1` writes the traces anew.

#![allow(clippy::disallowed_methods, reason = "cases are files of the source tree")]

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use fx_cfengine::{Request, Simulate};
use fx_engine::{Cancel, Event, Ledger, Level, Outcome, Purpose, Run, Sink};
use fx_host::{MemoryHost, Reply};
use fx_source::SourceMap;

#[derive(Default)]
struct Record {
    lines: RefCell<String>,
    evaluating: RefCell<bool>,
}

impl Sink for Record {
    fn event(&self, event: &Event<'_>) {
        let mut lines = self.lines.borrow_mut();
        let of = |fields: &[(std::borrow::Cow<'static, str>, fx_value::Value)], name: &str| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| match value.as_bytes() {
                    Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    None => value.to_string(),
                })
                .unwrap_or_default()
        };
        let _written = match event {
            Event::Note { code: "cf.step", fields, .. } => {
                let name = of(fields, "name");
                *self.evaluating.borrow_mut() = name == "evaluation";
                writeln!(lines, "== {name}")
            }
            Event::Note { code: "cf.pass", fields, .. } => {
                writeln!(lines, "-- bundle {} pass {}", of(fields, "bundle"), of(fields, "pass"))
            }
            Event::Note { code: "cf.class", fields, .. } if !self.hard(&of(fields, "name")) => {
                writeln!(lines, "   class {}", of(fields, "name"))
            }
            Event::Note { code: "cf.var", fields, .. } => {
                writeln!(lines, "   var {}", of(fields, "name"))
            }
            Event::Note { code: "cf.report", fields, .. } => {
                writeln!(lines, "   R: {}", of(fields, "text"))
            }
            Event::Note { code: "cf.print" | "cf.raw", fields, .. } => {
                writeln!(lines, "   > {}", of(fields, "text").replace('\n', "\n   > "))
            }
            Event::Message { level, text, .. } => {
                writeln!(lines, "   {}: {text}", format!("{level:?}").to_lowercase())
            }
            Event::StepClosed { step } => {
                let depth = "  ".repeat(step.depth as usize);
                let reason = match &step.outcome {
                    Outcome::Skipped(reason) if step.purpose == Purpose::Probe => {
                        format!(": {reason}")
                    }
                    _ => String::new(),
                };
                writeln!(
                    lines,
                    "   {depth}[{}] {} {} <- {}{reason}",
                    step.phase,
                    step.resource,
                    step.outcome.word(),
                    step.why
                )
            }
            _ => Ok(()),
        };
    }
}

impl Record {
    // Classes of the machine are not part of a case.
    fn hard(&self, name: &str) -> bool {
        !*self.evaluating.borrow() && !name.starts_with("my_")
    }
}

fn run(text: &str) -> String {
    let host = MemoryHost::linux();
    let mut request = Request {
        file: Some("/policy/main.cf".to_owned()),
        no_lock: true,
        trace: true,
        fallback: true,
        level: Some(Level::Warning),
        ..Request::default()
    };
    let mut name = "/policy/main.cf".to_owned();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut body = String::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("#=== ") {
            files.push((std::mem::replace(&mut name, path.to_owned()), std::mem::take(&mut body)));
            continue;
        }
        if let Some(directive) = line.strip_prefix("#! ") {
            let (key, value) = directive.split_once(": ").unwrap_or((directive, ""));
            let words: Vec<&str> = value.splitn(2, ' ').collect();
            match key {
                "reasons" => request.reasons = true,
                "simulate" => {
                    request.simulate = Some(match value {
                        "diff" => Simulate::Diff,
                        "manifest" => Simulate::Manifest,
                        _ => Simulate::ManifestFull,
                    });
                }
                "check" => (request.check, request.full_check) = (true, true),
                "define" => request.define.push(value.to_owned()),
                "bundles" => {
                    request.bundles = Some(value.split(',').map(str::to_owned).collect());
                }
                "program" => {
                    host.put_program(words[0]);
                    let code = words.get(1).and_then(|code| code.parse().ok()).unwrap_or(0);
                    host.on([words[0]], Reply::exit(code));
                }
                "file" => host.put(words[0], words.get(1).copied().unwrap_or_default()),
                "persistent" => host.put("/var/cfengine/state/fx_classes", value),
                _ => panic!("unknown directive {key}"),
            }
        }
        body.push_str(line);
        body.push('\n');
    }
    files.push((name, body));
    for (name, body) in files {
        host.put_mode(name, body, 0o600);
    }
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let record = Rc::new(Record::default());
    ledger.watch(record.clone());
    let summary = fx_cfengine::run(Run::new(&host, &ledger, &cancel), &sources, &request);
    let mut out = record.lines.borrow().clone();
    if request.reasons {
        let counts = ledger.counts();
        let _written = writeln!(
            out,
            "counts kept {} repaired {} failed {} skipped {}",
            counts.kept, counts.repaired, counts.failed, counts.skipped
        );
    }
    let _written = writeln!(out, "exit {}", summary.code);
    out
}

#[test]
fn every_case_runs_in_its_order() {
    // As much stack as a program has that is not built for speed: bundles may nest.
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(all_cases);
    thread.expect("a thread can be started").join().expect("all cases hold");
}

fn all_cases() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut names: Vec<_> = std::fs::read_dir(&directory)
        .expect("cases are there")
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "cf"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let text = std::fs::read_to_string(&name).expect("a case can be read");
        let found = run(&text);
        let trace = name.with_extension("trace");
        if update {
            std::fs::write(&trace, &found).expect("a trace can be written");
            continue;
        }
        let expected = std::fs::read_to_string(&trace).expect("a case has a trace");
        assert_eq!(found, expected, "{}", name.display());
    }
}
