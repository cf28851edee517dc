//! `fixpoint check`: what is wrong with the text of a policy, for people, as JSON lines, or
//! as SARIF for tools that show findings beside the code.

use fx_engine::{Event, Level, Sink};
use fx_host::{OsHost, Sandbox, SandboxOptions};
use fx_source::{Color, Diagnostic, Severity, SourceMap, render_json, render_sarif, render_text};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use super::run::inside as again;
use super::{copy, failed};
use crate::language::{self, PolicyArgs};
use crate::stage::Stage;
use crate::{exit, terminal};

/// Parses and checks policy without acting on it. Functions that run commands are called in a
/// throw-away copy of the machine, as root; otherwise they are not called.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint check site.cf modules/*.cf
  fixpoint check control-repo/
  fixpoint check --format sarif site.pp > findings.sarif")]
pub(crate) struct Args {
    #[command(flatten)]
    policy: PolicyArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    color: terminal::ColorChoice,
    /// Already inside the copy of the machine
    #[arg(long, hide = true)]
    inside: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
    /// SARIF 2.1.0
    Sarif,
}

/// One target that was looked at.
struct Checked {
    name: String,
    stage: Stage,
    found: Vec<Diagnostic>,
    code: u8,
}

pub(crate) fn run(args: &Args) -> u8 {
    if args.inside && !Sandbox::is_here() {
        return failed("--inside is for use in a copy of the machine; this is none");
    }
    if args.inside {
        return told(args, &all(args, Commands::Run));
    }
    let root = fx_host::Env::euid(&OsHost::new()) == 0;
    let mut checked = all(args, if root { Commands::Refuse } else { Commands::Leave });
    // Making a copy takes longer than most checks, so there is one only if it is needed.
    if checked.iter().any(|one| one.stage.refused().is_some()) && root {
        match copy::make(SandboxOptions::default()) {
            Ok(sandbox) => return again(&sandbox, "check"),
            // Already in one, in which another cannot be made.
            Err(_) if Sandbox::is_here() => return told(args, &all(args, Commands::Run)),
            Err(error) => {
                terminal::complain(error);
                checked = all(args, Commands::Leave);
            }
        }
    }
    for one in &mut checked {
        let first = one.stage.refused();
        if first.is_some() || one.stage.run.ledger.has_guard_not_run() {
            let what = first.map_or_else(String::new, |first| format!(": {first}"));
            let text =
                format!("what runs commands was not called, and its values are not known{what}");
            let help = "root checks such policy in a copy of the machine";
            one.found.push(Diagnostic::warning("not-run", text).help(help));
        }
    }
    told(args, &checked)
}

/// What becomes of the commands that policy runs while it is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commands {
    /// This is a copy of the machine.
    Run,
    /// They are refused, and that one was is noted.
    Refuse,
    /// Functions that run them are not called in the first place.
    Leave,
}

fn all(args: &Args, commands: Commands) -> Vec<Checked> {
    let targets = &args.policy.targets;
    targets.iter().map(|target| one(args, target, commands)).collect()
}

fn one(args: &Args, target: &Path, commands: Commands) -> Checked {
    let stop = fx_host::stop_on_signals();
    let run = commands == Commands::Run;
    let stage = if run { Stage::new(stop) } else { Stage::looking(stop) };
    let name = target.display().to_string();
    let known = language::language_of_tree(&stage, target);
    let language = match known.map_or_else(|| language::of(&*stage.host, target), Ok) {
        Ok(language) => language,
        Err(reason) => {
            return Checked { name, stage, found: Vec::new(), code: failed(reason) };
        }
    };
    let said = Rc::new(Said::default());
    let sink: Rc<dyn Sink> = Rc::<Said>::clone(&said);
    stage.run.ledger.watch(sink);
    let leave = commands == Commands::Leave;
    let (ended, found) = language::check(&stage, language, target, &args.policy, leave);
    let found = in_order(&stage, found, said.found.take());
    let wrong = ended != exit::OK || found.iter().any(|found| found.severity == Severity::Error);
    Checked { name, stage, found, code: if wrong { exit::ERROR } else { exit::OK } }
}

/// The code of a finding about a file that could not be looked at. No other finding repeats it.
const NOT_CHECKED: &str = "not-checked";

/// Findings by file and place. What was reported through the record only repeats errors
/// that were found otherwise; and that there are errors need not be said beside them.
fn in_order(stage: &Stage, found: Vec<Diagnostic>, said: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let wrong = |one: &Diagnostic| one.severity == Severity::Error;
    let repeats = found.iter().any(wrong);
    let placed = said.iter().any(|one| wrong(one) && one.primary().is_some());
    let kept = said.into_iter().filter(|one| {
        let is_alone = !repeats && (!placed || one.primary().is_some());
        !wrong(one) || one.code == NOT_CHECKED || is_alone
    });
    let mut all: Vec<Diagnostic> = found.into_iter().chain(kept).collect();
    all.sort_by_cached_key(|one| {
        one.primary().map(|span| {
            let at = stage.sources.location(span);
            (at.file, at.line, at.column)
        })
    });
    all.dedup();
    all
}

fn told(args: &Args, checked: &[Checked]) -> u8 {
    let mut code = exit::OK;
    for Checked { name, stage, found, code: own } in checked {
        code = code.max(*own);
        match args.format {
            Format::Text => terminal::hand_on(&shown(stage, args, found)),
            Format::Json => {
                // A line of its own says what the others are, also where there are none.
                let head =
                    serde_json::json!({ "schema": 1, "target": name, "findings": found.len() });
                let text = format!("{head}\n{}", render_json(&stage.sources, found));
                code = code.max(terminal::print(&text));
            }
            Format::Sarif => {}
        }
    }
    if args.format == Format::Sarif {
        let runs: Vec<(&SourceMap, &[Diagnostic])> =
            checked.iter().map(|one| (&*one.stage.sources, one.found.as_slice())).collect();
        code = code.max(terminal::print(&render_sarif(env!("CARGO_PKG_VERSION"), &runs)));
    }
    code
}

fn shown(stage: &Stage, args: &Args, found: &[Diagnostic]) -> String {
    let bright = terminal::color_on_errors(&*stage.host, args.color);
    let color = if bright { Color::Always } else { Color::Never };
    render_text(&stage.sources, found, color)
}

/// What a language says through its record instead of returning it.
#[derive(Default)]
struct Said {
    found: RefCell<Vec<Diagnostic>>,
    /// Messages with their places.
    said: RefCell<BTreeSet<String>>,
}

impl Sink for Said {
    fn event(&self, event: &Event<'_>) {
        let mut code = "policy";
        let (make, text, origin): (fn(&'static str, String) -> Diagnostic, _, _) = match event {
            Event::Message { level: Level::Error, text, origin, .. } => {
                (Diagnostic::error, (*text).to_owned(), origin)
            }
            Event::Message { level: Level::Warning, text, origin, .. } => {
                (Diagnostic::warning, (*text).to_owned(), origin)
            }
            Event::Note { code, fields, origin } if code.ends_with(".stderr") => {
                let Some((_, text)) = fields.iter().find(|(name, _)| name == "message") else {
                    return;
                };
                (Diagnostic::error, text.to_string(), origin)
            }
            Event::Note { code: language::NOT_CHECKED, fields, origin } => {
                code = NOT_CHECKED;
                let text = fields.iter().find(|(name, _)| name == "text");
                (
                    Diagnostic::error,
                    text.map(|(_, text)| text.to_string()).unwrap_or_default(),
                    origin,
                )
            }
            _ => return,
        };
        let mut diagnostic = make(code, text);
        if let Some(span) = origin.span {
            diagnostic = diagnostic.label(span, "");
        }
        // A directory is walked more than once, and a promise is evaluated several times; each says the same again.
        let key = format!("{:?} {}", origin.span, diagnostic.message);
        let is_new = self.said.borrow_mut().insert(key);
        if is_new {
            self.found.borrow_mut().push(diagnostic);
        }
    }
}
