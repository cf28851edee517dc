//! The cfengine personas: each tool with its own flags and exit codes.

mod bootstrap;
mod check;
mod daemon;
mod evaluate;
mod execd;
mod flags;
mod key;
mod mail;
mod monitor;
mod monitord;
mod net;
mod options;
mod peer;
mod runagent;
mod runagent_socket;
mod secret;
mod serverd;
mod site;
mod tools;

use std::io::{BufWriter, IsTerminal, LineWriter, Write};
use std::rc::Rc;

use fx_engine::{Cancel, Ledger, Run};
use fx_host::OsHost;
use fx_report::console::cfengine::CfengineConsole;
use fx_source::SourceMap;

use crate::persona::Invocation;
use flags::{AGENT, Asked, PROMISES};
use options::Flag;

pub(crate) use check::check;
pub(crate) use execd::execd;
pub(crate) use key::key;
pub(crate) use monitord::monitord;
pub(crate) use net::net;
pub(crate) use runagent::runagent;
pub(crate) use secret::secret;
pub(crate) use serverd::serverd;

pub(crate) fn agent(invocation: &Invocation) -> u8 {
    start(invocation, AGENT, false)
}

pub(crate) fn promises(invocation: &Invocation) -> u8 {
    start(invocation, PROMISES, true)
}

fn say(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

/// The tool as it was called, with the path to it if there was one.
fn called_as(name: &str) -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    if std::path::Path::new(&called).file_name().is_some_and(|file| file == name) {
        called.to_string_lossy().into_owned()
    } else {
        name.to_owned()
    }
}

fn words(invocation: &Invocation) -> Vec<String> {
    invocation.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

fn start(invocation: &Invocation, flags: &'static [Flag], check: bool) -> u8 {
    let parsed = match options::parse(flags, &words(invocation)) {
        Ok(parsed) => parsed,
        Err(message) => {
            complain(&format!("{}: {message}", called_as(invocation.name)));
            say(&flags::usage(invocation.name, flags));
            return 1;
        }
    };
    let Asked { mut request, stamp, coloured, bootstrap, .. } =
        match Asked::read(invocation.name, flags, &parsed, check) {
            Ok(asked) => asked,
            Err(code) => return code,
        };
    if let Some(bootstrap) = &bootstrap {
        match bootstrap.begin(&OsHost::new(), &request) {
            Some(prepared) => request = prepared,
            None => return 1,
        }
    }
    let flag = fx_host::stop_on_signals();
    let host = OsHost::cancelled_by(std::sync::Arc::clone(&flag));
    let cancel = Cancel::from_flag(flag);
    let ledger = Ledger::new();
    let sources = SourceMap::new();
    // Somebody who looks on sees each line as it comes.
    let stdout = std::io::stdout();
    let out: Box<dyn Write> = if stdout.is_terminal() {
        Box::new(LineWriter::new(stdout))
    } else {
        Box::new(BufWriter::with_capacity(1 << 16, stdout))
    };
    let mut console = CfengineConsole::new(out, Box::new(BufWriter::new(std::io::stderr())));
    console = console.coloured(coloured);
    if stamp {
        console = console
            .stamped(Box::new(|| jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%z").to_string()));
    }
    ledger.watch(Rc::new(console));
    let run = Run::new(&host, &ledger, &cancel);
    let summary = if request.check {
        fx_cfengine::check(run, &sources, &request)
    } else {
        fx_cfengine_agent::run(run, &sources, &request)
    };
    ledger.flush();
    // What was written and not yet put in place, where the run ended early.
    drop(host);
    let code = match &bootstrap {
        Some(bootstrap) => bootstrap.end(&OsHost::new(), &request),
        None => summary.code,
    };
    fx_host::leave(code)
}
