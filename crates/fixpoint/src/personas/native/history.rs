//! `fixpoint history`: past runs from the state store.

use std::fmt::Write;

use fx_host::OsHost;
use fx_store::{RunRecord, StepRecord, Store};
use serde_json::json;

use super::failed;
use crate::{paths, terminal};

/// Lists past runs, newest first; with a number, shows that run's steps in order.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint history                the latest runs
  fixpoint history show 17        what run 17 did, in order, and why
  fixpoint history --format json  for other programs")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Number of runs to list
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Form of the output
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Format,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show one run with its steps
    Show {
        /// Number of the run; the latest without
        run: Option<i64>,
    },
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table
    #[default]
    Text,
    /// JSON
    Json,
}

pub(crate) fn run(args: &Args) -> u8 {
    let host = OsHost::new();
    let opened = match Store::open(&host, &paths::state_dir(&host)) {
        Ok(opened) => opened,
        Err(error) => return failed(error),
    };
    if let Some(aside) = opened.moved_aside {
        terminal::complain(format_args!(
            "the state store was broken and is now '{}'",
            aside.display()
        ));
    }
    let store = opened.store;
    let text = match &args.verb {
        None => store.runs(args.limit).map(|runs| Ok(list(&runs, args.format))),
        Some(Verb::Show { run }) => show(&store, *run, args.format),
    };
    match text {
        Ok(Ok(text)) => terminal::print(&text),
        Ok(Err(missing)) => failed(missing),
        Err(error) => failed(error),
    }
}

fn list(runs: &[RunRecord], format: Format) -> String {
    if format == Format::Json {
        return format!(
            "{:#}\n",
            json!({ "schema": 1, "runs": runs.iter().map(run_json).collect::<Vec<_>>() })
        );
    }
    if runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let mut text = String::from(
        "  run  started               verb        exit  kept  repaired  failed  target\n",
    );
    for run in runs {
        let exit = run.exit.map_or_else(|| "-".to_owned(), |code| code.to_string());
        let _ = writeln!(
            text,
            "{:>5}  {:<20}  {:<10}  {exit:>4}  {:>4}  {:>8}  {:>6}  {}",
            run.id,
            stamp(run.info.started.secs),
            run.info.verb,
            run.kept,
            run.repaired,
            run.failed,
            run.info.target
        );
    }
    text
}

fn show(
    store: &Store,
    wanted: Option<i64>,
    format: Format,
) -> Result<Result<String, String>, fx_store::StoreError> {
    let id = match wanted {
        Some(id) => Some(id),
        None => store.runs(1)?.first().map(|run| run.id),
    };
    let Some(run) = id.map(|id| store.run(id)).transpose()?.flatten() else {
        let name = id.map_or_else(|| "any run".to_owned(), |id| format!("run {id}"));
        return Ok(Err(format!(
            "there is no record of {name}; 'fixpoint history' lists what there is"
        )));
    };
    let steps = store.steps(run.id)?;
    if format == Format::Json {
        let steps: Vec<_> = steps.iter().map(step_json).collect();
        return Ok(Ok(format!(
            "{:#}\n",
            json!({ "schema": 1, "run": run_json(&run), "steps": steps })
        )));
    }
    let mut text = list(std::slice::from_ref(&run), format);
    for step in &steps {
        let _ = write!(
            text,
            "{:>5}  {:<12} {} {}",
            step.number, step.outcome, step.resource, step.action
        );
        for (open, part, close) in [
            (" {", &step.changed, "}"),
            (" - ", &step.cause, ""),
            (": ", step.message.as_ref().unwrap_or(&String::new()), ""),
            (" <- ", &step.why, ""),
            (" @ ", &step.origin, ""),
        ] {
            if !part.is_empty() {
                let _ = write!(text, "{open}{part}{close}");
            }
        }
        text.push('\n');
    }
    Ok(Ok(text))
}

fn run_json(run: &RunRecord) -> serde_json::Value {
    json!({
        "run": run.id, "started": stamp(run.info.started.secs), "target": run.info.target, "verb": run.info.verb,
        "exit": run.exit, "milliseconds": run.elapsed_ms, "kept": run.kept, "repaired": run.repaired,
        "would_repair": run.would_repair, "failed": run.failed, "skipped": run.skipped,
    })
}

fn step_json(step: &StepRecord) -> serde_json::Value {
    json!({
        "step": step.number, "parent": step.parent, "phase": step.phase, "resource": step.resource, "action": step.action,
        "outcome": step.outcome, "changed": step.changed, "why": step.why, "origin": step.origin, "message": step.message, "cause": step.cause,
        "microseconds": step.elapsed_us,
    })
}

/// A moment in UTC as ISO 8601.
fn stamp(secs: i64) -> String {
    jiff::Timestamp::from_second(secs).map_or_else(|_| secs.to_string(), |time| time.to_string())
}
