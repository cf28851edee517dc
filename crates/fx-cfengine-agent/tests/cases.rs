//! Cases: policies with the order in which their promises must be kept.
//!
//! The section `run` says how, a line each: `define`, `bundles`, `program PATH CODE`,
//! `file PATH TEXT`, `persistent CLASSES`, `reasons`, `check`, `simulate MODE`. Sections named by a
//! path are policy files, the first of which is run. `trace` is what the run did: the steps of the
//! evaluation, classes and variables as they come, promises with pass, reason and outcome,
//! reports, messages.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use fx_cases::{Case, Given, Giver};
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

fn give(case: &Case, _: Giver<'_>) -> Given {
    let host = MemoryHost::linux();
    let mut request = Request {
        file: Some("/policy/main.cf".to_owned()),
        no_lock: true,
        trace: true,
        fallback: true,
        level: Some(Level::Warning),
        ..Request::default()
    };
    for line in case.get("run").unwrap_or_default().lines() {
        direct(line, &host, &mut request);
    }
    for (name, text) in case.sections().filter(|(name, _)| name.starts_with('/')) {
        host.put_mode(name, text, 0o600);
    }
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let record = Rc::new(Record::default());
    ledger.watch(record.clone());
    let run = Run::new(&host, &ledger, &cancel);
    let summary = if request.check {
        fx_cfengine::check(run, &sources, &request)
    } else {
        fx_cfengine_agent::run(run, &sources, &request)
    };
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
    vec![("trace", out)]
}

/// One line of how a case is run.
fn direct(line: &str, host: &MemoryHost, request: &mut Request) {
    let (key, value) = line.split_once(": ").unwrap_or((line, ""));
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
        "bundles" => request.bundles = Some(value.split(',').map(str::to_owned).collect()),
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

fn main() -> ExitCode {
    fx_cases::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), give)
}
