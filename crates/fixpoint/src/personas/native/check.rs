//! `fixpoint check`: what is wrong with the text of a policy, for people, as JSON lines, or
//! as SARIF for tools that show findings beside the code.

use fx_engine::{Event, Level, Sink};
use fx_source::{Color, Diagnostic, SourceMap, render_json, render_sarif, render_text};
use std::cell::RefCell;
use std::rc::Rc;

use super::failed;
use crate::language::{self, PolicyArgs};
use crate::stage::Stage;
use crate::{exit, terminal};

/// Parses and checks policy without acting on it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint check site.cf modules/*.cf
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

pub(crate) fn run(args: &Args) -> u8 {
    let mut code = exit::OK;
    let mut sarif = Vec::new();
    for target in &args.policy.targets {
        let stage = Stage::new(fx_host::stop_on_signals());
        let language = match language::of(&*stage.host, target) {
            Ok(language) => language,
            Err(reason) => {
                code = code.max(failed(reason));
                continue;
            }
        };
        let said = Rc::new(Said::default());
        let sink: Rc<dyn Sink> = Rc::<Said>::clone(&said);
        stage.run.ledger.watch(sink);
        let (ended, mut found) = language::check(&stage, language, target, &args.policy);
        found.extend(said.0.borrow_mut().drain(..));
        let wrong = ended != exit::OK
            || found.iter().any(|found| found.severity == fx_source::Severity::Error);
        code = code.max(if wrong { exit::ERROR } else { exit::OK });
        match args.format {
            Format::Text => terminal::hand_on(&shown(&stage, args, &found)),
            Format::Json => {
                // A line of its own says what the others are, also where there are none.
                let name = target.display().to_string();
                let head =
                    serde_json::json!({ "schema": 1, "target": name, "findings": found.len() });
                let text = format!("{head}\n{}", render_json(&stage.sources, &found));
                code = code.max(terminal::print(&text));
            }
            Format::Sarif => sarif.push((stage.sources, found)),
        }
    }
    if args.format == Format::Sarif {
        let runs: Vec<(&SourceMap, &[Diagnostic])> =
            sarif.iter().map(|(sources, found)| (&**sources, found.as_slice())).collect();
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
struct Said(RefCell<Vec<Diagnostic>>);

impl Sink for Said {
    fn event(&self, event: &Event<'_>) {
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
            _ => return,
        };
        let mut diagnostic = make("policy", text);
        if let Some(span) = origin.span {
            diagnostic = diagnostic.label(span, "");
        }
        self.0.borrow_mut().push(diagnostic);
    }
}
