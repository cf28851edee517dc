//! `fixpoint run`, `plan`, `explain` and `check`: a policy of any language we know, in our own style.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Cancel, Event, Ledger, Level, Run, Sink};
use fx_host::{OsHost, Sandbox, SandboxOptions, Spec, Stream};

use fx_report::timeline::{self, Moment, Timeline};
use fx_source::SourceMap;

use super::failed;
use crate::session::{Kind, OutputArgs, Session};
use crate::{exit, terminal};

/// Brings the machine to the state the policy describes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint run site.cf
  fixpoint run --verbose -D production promises.cf
  fixpoint run --format json site.cf | jq 'select(.event == \"step_closed\")'")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Shows what a run would do. As root it evaluates in a throw-away copy of the machine, so
/// that functions which run commands cannot touch anything; otherwise those are not called.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint plan site.cf          exit code 2 when changes are pending
  fixpoint plan --format json site.cf")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Already inside the copy of the machine
    #[arg(long, hide = true)]
    inside: bool,
}

/// Shows the order of an evaluation: every step with its reason, in the order taken. The
/// policy is rehearsed as `plan` does it; nothing is changed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint explain site.cf
  fixpoint explain --why motd site.cf          one item: why then, or why not
  fixpoint explain --format html site.cf > order.html")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    /// Tell only of items whose name contains this
    #[arg(long)]
    why: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: ExplainFormat,
    /// Already inside the copy of the machine
    #[arg(long, hide = true)]
    inside: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExplainFormat {
    /// For people
    #[default]
    Text,
    /// JSON
    Json,
    /// One page that needs no network
    Html,
}

/// Parses and checks policy without acting on it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint check site.cf modules/*.cf")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is run, and with which classes.
#[derive(clap::Args)]
struct PolicyArgs {
    /// Policy files: CFEngine's `.cf`
    #[arg(required = true)]
    targets: Vec<PathBuf>,
    /// Classes to define, separated by commas
    #[arg(short = 'D', long, value_delimiter = ',')]
    define: Vec<String>,
    /// Bundles to run instead of the bundlesequence, separated by commas
    #[arg(short, long, value_delimiter = ',')]
    bundles: Option<Vec<String>>,
}

impl PolicyArgs {
    fn request(&self, target: &Path) -> fx_cfengine::Request {
        fx_cfengine::Request {
            file: Some(absolute(target).display().to_string()),
            define: self.define.clone(),
            bundles: self.bundles.clone(),
            reasons: true,
            // A policy with errors is told and left; no failsafe policy takes its place.
            interactive: true,
            ..fx_cfengine::Request::default()
        }
    }
}

pub(crate) fn run(args: &RunArgs) -> u8 {
    each(&args.policy, "run", Kind::Changing, &args.output, &|request| request.no_lock = true)
}

pub(crate) fn check(args: &CheckArgs) -> u8 {
    each(&args.policy, "check", Kind::Looking, &args.output, &|request| request.check = true)
}

pub(crate) fn plan(args: &PlanArgs) -> u8 {
    if !args.inside {
        match Sandbox::new(&SandboxOptions::default()) {
            Ok(sandbox) => return inside(&sandbox, "plan"),
            Err(error) => terminal::complain(format_args!(
                "functions that run commands are not called: {error}"
            )),
        }
    }
    let without_functions = !args.inside;
    each(&args.policy, "plan", Kind::Looking, &args.output, &|request| {
        request.dry_run = true;
        request.no_lock = true;
        request.no_functions = without_functions;
    })
}

pub(crate) fn explain(args: &ExplainArgs) -> u8 {
    if !args.inside {
        match Sandbox::new(&SandboxOptions::default()) {
            Ok(sandbox) => return inside(&sandbox, "explain"),
            Err(error) => terminal::complain(format_args!(
                "functions that run commands are not called: {error}"
            )),
        }
    }
    let mut code = exit::OK;
    for target in &args.policy.targets {
        if let Some(reason) = refusal(target) {
            code = code.max(failed(reason));
            continue;
        }
        let (host, sources) = (OsHost::new(), Rc::new(SourceMap::new()));
        let (ledger, cancel) = (Ledger::new(), Cancel::new());
        let timeline = Rc::new(Timeline::new(Rc::clone(&sources)));
        let sink: Rc<dyn Sink> = Rc::<Timeline>::clone(&timeline);
        ledger.watch(sink);
        let mut request = args.policy.request(target);
        (request.dry_run, request.no_lock, request.trace, request.no_functions) =
            (true, true, true, !args.inside);
        ledger.watch(Rc::new(Complaints));
        let run = Run { host: &host, ledger: &ledger, cancel: &cancel };
        let ended = fx_cfengine::run(run, &sources, &request).code;
        if ended != exit::OK {
            // There is no order to explain, and what is wrong was said.
            code = code.max(exit::ERROR);
            continue;
        }
        code = code.max(told(args, target, &timeline.moments()));
    }
    code
}

/// Hands on what a language has to say of its text while an order is explained.
struct Complaints;

impl Sink for Complaints {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Message { level: Level::Error, text, .. } => terminal::complain(text),
            Event::Note { code, fields, .. } if code.ends_with(".stderr") => {
                if let Some((_, text)) = fields.iter().find(|(name, _)| name == "text") {
                    terminal::hand_on(&text.to_string());
                }
            }
            _ => {}
        }
    }
}

fn told(args: &ExplainArgs, target: &Path, moments: &[Moment]) -> u8 {
    let name = target.display().to_string();
    let text = match (&args.why, args.format) {
        (Some(item), _) => match timeline::why(moments, item) {
            Some(text) => text,
            None => {
                return failed(format_args!(
                    "no item of '{name}' has '{item}' in its name; 'fixpoint explain {name}' lists them"
                ));
            }
        },
        (None, ExplainFormat::Text) => timeline::text(moments),
        (None, ExplainFormat::Json) => format!("{:#}\n", timeline::timeline_json(&name, moments)),
        (None, ExplainFormat::Html) => timeline::page(&name, moments),
    };
    terminal::print(&text)
}

/// Calls the same verb again in the copy of the machine and hands its lines on.
fn inside(sandbox: &Sandbox, verb: &str) -> u8 {
    let Ok(program) = std::env::current_exe() else {
        return failed("cannot find the running program");
    };
    let words = std::env::args_os().skip(1).skip_while(|word| word != verb).skip(1);
    let argv: Vec<OsString> = [program.into_os_string(), verb.into(), "--inside".into()]
        .into_iter()
        .chain(words)
        .collect();
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let spec = Spec { cwd: Some(fx_host::Env::cwd(&host)), output_limit: 0, ..Spec::argv(argv) };
    let mut closed = false;
    let ended = sandbox.run_streaming(&host, &spec, &mut |line| {
        let mut text = String::from_utf8_lossy(line.bytes).into_owned();
        text.push('\n');
        if line.stream == Stream::Stderr {
            terminal::hand_on(&text);
        } else if !closed {
            closed = terminal::print(&text) != exit::OK;
        }
    });
    match ended {
        Ok(ended) => u8::try_from(ended.exit.code()).unwrap_or(exit::ERROR).max(u8::from(closed)),
        Err(error) => failed(error),
    }
}

/// Takes the targets one after the other; the worst code counts.
fn each(
    policy: &PolicyArgs,
    verb: &str,
    kind: Kind,
    output: &OutputArgs,
    set: &dyn Fn(&mut fx_cfengine::Request),
) -> u8 {
    let mut code = exit::OK;
    for target in &policy.targets {
        if let Some(reason) = refusal(target) {
            terminal::complain(reason);
            code = code.max(exit::ERROR);
            continue;
        }
        let session = match Session::open(verb, &target.display().to_string(), kind, output) {
            Ok(session) => session,
            Err(refused) => return refused,
        };
        let mut request = policy.request(target);
        set(&mut request);
        let sources = Rc::clone(session.sources());
        let mut worst = fx_cfengine::run(session.run(), &sources, &request).code;
        let counts = session.counts();
        if counts.failed > 0 {
            worst = worst.max(exit::ERROR);
        } else if worst == exit::OK && counts.would_repair > 0 {
            worst = exit::PENDING;
        }
        code = code.max(session.close(worst));
    }
    code
}

fn absolute(target: &Path) -> PathBuf {
    fx_host::Env::cwd(&OsHost::new()).join(target)
}

/// Why a target cannot be run, if so.
fn refusal(target: &Path) -> Option<String> {
    let name = target.display();
    match target.extension().and_then(|extension| extension.to_str()) {
        Some("cf") => None,
        Some("pp") => Some(format!("'{name}': Puppet manifests cannot be run yet")),
        Some("rb") => Some(format!("'{name}': Chef recipes cannot be run yet")),
        _ => Some(format!("'{name}': not a policy file; a name that ends in .cf was expected")),
    }
}
