//! `fixpoint run`, `plan` and `explain`: a policy of any language we know, in our own style.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Event, Level, Sink};
use fx_host::{OsHost, Sandbox, SandboxOptions, Spec, Stream};
use fx_report::timeline::{self, Moment, Timeline};

use super::nodes::{self, NodeArgs};
use super::saved::{Recorder, Saved};
use super::{copy, failed};
use crate::language::{self, Component, PolicyArgs, Way};
use crate::session::{Kind, OutputArgs, Session};
use crate::stage::Stage;
use crate::{exit, terminal};

/// Brings the machine to the state the policy describes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint run site.cf
  fixpoint run --verbose -D production promises.cf
  fixpoint run --plan friday.plan site.cf      only if all is as it was planned
  fixpoint run --format json site.cf | jq 'select(.event == \"step_closed\")'")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Rehearses first, and refuses if the outcome is not that of this saved plan
    #[arg(long)]
    plan: Option<PathBuf>,
}

/// Shows what a run would do. As root it evaluates in a throw-away copy of the machine, so
/// that functions which run commands cannot touch anything; otherwise those are not called.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint plan site.cf          exit code 2 when changes are pending
  fixpoint plan --net site.pp    packages are installed in the copy of the machine
  fixpoint plan --format json site.cf
  fixpoint plan --out friday.plan site.cf      kept for 'fixpoint run --plan'
  fixpoint plan --node web1 new/production     what a node would get from a server with this code")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    nodes: NodeArgs,
    /// Saves the plan in this file
    #[arg(long, conflicts_with_all = ["node", "all_nodes"])]
    out: Option<PathBuf>,
    /// Lets the copy use the machine's network: packages are installed in it, and later steps
    /// are planned with what they bring
    #[arg(long)]
    net: bool,
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
  fixpoint explain --component server site.cf  what cf-serverd makes of it
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
    /// Whose bundles are evaluated (CFEngine)
    #[arg(long, value_enum, default_value_t)]
    component: Component,
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

pub(crate) fn run(args: &RunArgs) -> u8 {
    let then = match args.plan.as_ref().map(|file| Saved::read(file)).transpose() {
        Ok(then) => then,
        Err(error) => return failed(error),
    };
    if let (Some(file), Some(then)) = (&args.plan, then)
        && let Err(reasons) = as_planned(&then, &args.policy)
    {
        terminal::complain(format_args!("not run: '{}' no longer holds", file.display()));
        for reason in reasons {
            terminal::complain(reason);
        }
        return exit::ERROR;
    }
    each(&args.policy, "run", Kind::Changing, &args.output, Way::default(), None)
}

/// Where a plan is put inside the copy of the machine.
const INSIDE: &str = "/run/fixpoint.plan";

/// Rehearses again and compares.
fn as_planned(then: &Saved, policy: &PolicyArgs) -> Result<(), Vec<String>> {
    let one = |error: String| vec![error];
    if then.targets() != policy.targets {
        return Err(vec!["it was made for other targets".to_owned()]);
    }
    let options = SandboxOptions { net: then.net(), ..SandboxOptions::default() };
    let sandbox = copy::make(options).map_err(|e| one(e.to_string()))?;
    let program = std::env::current_exe().map_err(|error| one(error.to_string()))?;
    let mut argv: Vec<OsString> = vec![program.into_os_string()];
    argv.extend(["plan", "--inside", "--quiet", "--out", INSIDE].map(OsString::from));
    argv.extend(then.net().then(|| OsString::from("--net")));
    argv.extend(policy.words());
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let spec = Spec { cwd: Some(fx_host::Env::cwd(&host)), ..Spec::argv(argv) };
    sandbox.run(&host, &spec).map_err(|error| one(error.to_string()))?;
    let now = within(&sandbox).map_err(one)?;
    let moved = then.moved(&now);
    if moved.is_empty() { Ok(()) } else { Err(moved) }
}

/// The plan that a process inside has left there.
fn within(sandbox: &Sandbox) -> Result<Saved, String> {
    let spec = Spec { output_limit: 1 << 30, ..Spec::argv(["cat", INSIDE]) };
    let ended = sandbox.run(&OsHost::new(), &spec).map_err(|error| error.to_string())?;
    Saved::parse(&ended.stdout, Path::new(INSIDE))
}

pub(crate) fn plan(args: &PlanArgs) -> u8 {
    if args.nodes.any() {
        return nodes::plan(&args.nodes, &args.policy.targets, args.net, args.output.format);
    }
    if !args.inside {
        let net = args.net || args.policy.server;
        match copy::make(SandboxOptions { net, ..SandboxOptions::default() }) {
            Ok(sandbox) => {
                let code = inside(&sandbox, "plan");
                return match &args.out {
                    Some(out) if code != exit::ERROR => match within(&sandbox) {
                        Ok(saved) => code.max(saved.write(out).map_or_else(failed, |()| exit::OK)),
                        Err(error) => failed(error),
                    },
                    _ => code,
                };
            }
            Err(error) => terminal::complain(format_args!(
                "functions that run commands are not called: {error}"
            )),
        }
    }
    let way = match preview(args.inside, false) {
        Ok(way) => Way { net: args.net, ..way },
        Err(refused) => return refused,
    };
    let mut saved = args.out.as_ref().map(|_| Saved::new(&args.policy.targets, args.net));
    let code = each(&args.policy, "plan", Kind::Looking, &args.output, way, saved.as_mut());
    match (&args.out, saved) {
        (Some(_), Some(saved)) if args.inside => {
            code.max(saved.write(Path::new(INSIDE)).map_or_else(failed, |()| exit::OK))
        }
        (Some(out), Some(saved)) => code.max(saved.write(out).map_or_else(failed, |()| exit::OK)),
        _ => code,
    }
}

pub(crate) fn explain(args: &ExplainArgs) -> u8 {
    if !args.inside {
        let net = args.policy.server;
        match copy::make(SandboxOptions { net, ..SandboxOptions::default() }) {
            Ok(sandbox) => return inside(&sandbox, "explain"),
            Err(error) => terminal::complain(format_args!(
                "functions that run commands are not called: {error}"
            )),
        }
    }
    let way = match preview(args.inside, true) {
        Ok(way) => Way { component: args.component, ..way },
        Err(refused) => return refused,
    };
    let mut code = exit::OK;
    for target in &args.policy.targets {
        let stage = Stage::new(fx_host::stop_on_signals());
        let language = match language::of(&*stage.host, target) {
            Ok(language) => language,
            Err(reason) => {
                code = code.max(failed(reason));
                continue;
            }
        };
        let timeline = Rc::new(Timeline::new(Rc::clone(&stage.sources)));
        let sink: Rc<dyn Sink> = Rc::<Timeline>::clone(&timeline);
        stage.run.ledger.watch(sink);
        stage.run.ledger.watch(Rc::new(Complaints));
        let ended = language::evaluate(&stage, language, target, &args.policy, way);
        if ended != exit::OK {
            // There is no order to explain, and what is wrong was said.
            code = code.max(exit::ERROR);
            continue;
        }
        code = code.max(told(args, target, &timeline.moments()));
    }
    code
}

/// How a preview is evaluated: inside a copy for real, but for what has open-ended effects;
/// without a copy as a rehearsal that calls no functions.
fn preview(inside: bool, trace: bool) -> Result<Way, u8> {
    if inside && !Sandbox::is_here() {
        return Err(failed("--inside is for use in a copy of the machine; this is none"));
    }
    Ok(Way { rehearse: !inside, in_copy: inside, no_functions: !inside, trace, ..Way::default() })
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
pub(super) fn inside(sandbox: &Sandbox, verb: &str) -> u8 {
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
    if let Some(signal) = fx_host::stop_signal() {
        return failed(format_args!("stopped by signal {signal}"));
    }
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
    way: Way,
    mut save: Option<&mut Saved>,
) -> u8 {
    let mut code = exit::OK;
    for target in &policy.targets {
        let language = match language::of(&OsHost::new(), target) {
            Ok(language) => language,
            Err(reason) => {
                code = code.max(failed(reason));
                continue;
            }
        };
        let session = match Session::open(verb, &target.display().to_string(), kind, output) {
            Ok(session) => session,
            Err(refused) => return refused,
        };
        let recorder = Rc::new(Recorder::default());
        if save.is_some() {
            let sink: Rc<dyn Sink> = Rc::<Recorder>::clone(&recorder);
            session.stage().ledger().watch(sink);
        }
        let mut worst = language::evaluate(session.stage(), language, target, policy, way);
        if let Some(saved) = save.as_deref_mut() {
            saved.add(&recorder, session.stage().ledger(), &session.stage().sources);
        }
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
