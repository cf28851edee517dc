//! `fixpoint history`: past runs from the state store.

use std::fmt::Write;

use fx_host::{Lock, OsHost};
use fx_store::{ChangeRecord, RunRecord, StepRecord, Store, StoreError};
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
    // Who holds the lock of runs does the latest one.
    let is_busy = Lock::holder(&paths::state_dir(&host).join("run.lock")).is_some();
    let text = match &args.verb {
        None => seen(&store, args.limit, is_busy).map(|runs| Ok(list(&runs, args.format))),
        Some(Verb::Show { run }) => show(&store, *run, args.format, is_busy),
    };
    match text {
        Ok(Ok(text)) => terminal::print(&fx_source::visible(&text)),
        Ok(Err(missing)) => failed(missing),
        Err(error) => failed(error),
    }
}

/// How a run stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ended,
    UnderWay,
    /// It was killed, or the machine went down.
    CutOff,
}

fn state(store: &Store, run: &RunRecord, is_busy: bool) -> Result<State, StoreError> {
    Ok(match run.exit {
        Some(_) => State::Ended,
        None if is_busy && store.runs(1)?.first().is_some_and(|last| last.id == run.id) => {
            State::UnderWay
        }
        None => State::CutOff,
    })
}

fn seen(store: &Store, limit: u32, is_busy: bool) -> Result<Vec<(RunRecord, State)>, StoreError> {
    let runs = store.runs(limit)?.into_iter();
    runs.map(|run| Ok((run.clone(), state(store, &run, is_busy)?))).collect()
}

fn list(runs: &[(RunRecord, State)], format: Format) -> String {
    if format == Format::Json {
        return format!(
            "{:#}\n",
            json!({ "schema": 1, "runs": runs.iter().map(|(run, state)| run_json(run, *state)).collect::<Vec<_>>() })
        );
    }
    if runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let mut text = String::from(
        "  run  started               verb        exit  kept  repaired  failed  target\n",
    );
    for (run, state) in runs {
        let exit = match (run.exit, state) {
            (Some(code), _) => code.to_string(),
            (None, State::CutOff) => "cut".to_owned(),
            (None, _) => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:>5}  {:<20}  {:<10}  {exit:>4}  {:>4}  {:>8}  {:>6}  {}",
            run.id,
            stamp(run.info.started.secs),
            run.info.verb,
            run.kept,
            run.repaired,
            run.failed,
            fx_source::visible_name(&run.info.target)
        );
    }
    text
}

fn show(
    store: &Store,
    wanted: Option<i64>,
    format: Format,
    is_busy: bool,
) -> Result<Result<String, String>, StoreError> {
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
    let state = state(store, &run, is_busy)?;
    let mut steps = store.steps(run.id)?;
    if state == State::CutOff {
        let begun = steps.iter_mut().filter(|step| step.outcome == fx_store::UNDER_WAY);
        begun.for_each(|step| step.outcome = "cut-off".into());
    }
    if format == Format::Json {
        let changes = store.changes(run.id)?;
        let steps: Vec<_> = steps.iter().map(|step| step_json(step, &changes)).collect();
        return Ok(Ok(format!(
            "{:#}\n",
            json!({ "schema": 1, "run": run_json(&run, state), "steps": steps })
        )));
    }
    let mut text = list(&[(run, state)], format);
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
                let _ = write!(text, "{open}{}{close}", fx_source::visible_name(part));
            }
        }
        text.push('\n');
    }
    match state {
        State::Ended => {}
        State::UnderWay => text.push_str("the run is under way; it did at least this\n"),
        State::CutOff => text.push_str(
            "the run was cut off; it did at least this, and nobody noted what it did after\n",
        ),
    }
    Ok(Ok(text))
}

fn run_json(run: &RunRecord, state: State) -> serde_json::Value {
    json!({
        "run": run.id, "started": stamp(run.info.started.secs), "target": run.info.target, "verb": run.info.verb,
        "exit": run.exit, "milliseconds": run.elapsed_ms, "kept": run.kept, "repaired": run.repaired,
        "would_repair": run.would_repair, "failed": run.failed, "skipped": run.skipped,
        "cut_off": state == State::CutOff, "under_way": state == State::UnderWay,
    })
}

fn step_json(step: &StepRecord, changes: &[ChangeRecord]) -> serde_json::Value {
    let own = changes.partition_point(|change| change.step < step.number);
    let own = changes[own..].iter().take_while(|change| change.step == step.number);
    json!({
        "changes": own.map(change_json).collect::<Vec<_>>(),
        "step": step.number, "parent": step.parent, "phase": step.phase, "resource": step.resource, "action": step.action,
        "outcome": step.outcome, "changed": step.changed, "why": step.why, "origin": step.origin, "message": step.message, "cause": step.cause,
        "microseconds": step.elapsed_us,
    })
}

fn change_json(change: &ChangeRecord) -> serde_json::Value {
    let value = |text: &str| serde_json::from_str(text).unwrap_or(serde_json::Value::Null);
    json!({
        "change": change.fate.word(),
        "target": { "kind": change.kind, "name": fx_value::Value::from(change.name.as_slice()).to_json() },
        "property": change.property, "from": value(&change.from), "to": value(&change.to),
    })
}

/// A moment in UTC as ISO 8601.
fn stamp(secs: i64) -> String {
    jiff::Timestamp::from_second(secs).map_or_else(|_| secs.to_string(), |time| time.to_string())
}
