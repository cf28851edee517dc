//! `fixpoint run`, `plan` and `check`: a policy of any language we know, in our own style.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec, Stream};

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

pub(crate) fn run(args: &RunArgs) -> u8 {
    each(&args.policy, "run", Kind::Changing, &args.output, &|request| request.no_lock = true)
}

pub(crate) fn check(args: &CheckArgs) -> u8 {
    each(&args.policy, "check", Kind::Looking, &args.output, &|request| request.check = true)
}

pub(crate) fn plan(args: &PlanArgs) -> u8 {
    if !args.inside {
        match Sandbox::new(&SandboxOptions::default()) {
            Ok(sandbox) => return plan_inside(&sandbox),
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

/// Calls this same plan again in the copy of the machine and hands its lines on.
fn plan_inside(sandbox: &Sandbox) -> u8 {
    let Ok(program) = std::env::current_exe() else {
        return failed("cannot find the running program");
    };
    let words = std::env::args_os().skip(1).skip_while(|word| word != "plan").skip(1);
    let argv: Vec<OsString> = [program.into_os_string(), "plan".into(), "--inside".into()]
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
        let mut request = fx_cfengine::Request {
            file: Some(absolute(target).display().to_string()),
            define: policy.define.clone(),
            bundles: policy.bundles.clone(),
            ..fx_cfengine::Request::default()
        };
        set(&mut request);
        let sources = std::rc::Rc::clone(session.sources());
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
