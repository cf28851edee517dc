//! Policy for the tools around the agent: read, resolved, and handed to whoever needs it.

use std::io::Write;
use std::rc::Rc;

use fx_cfengine::eval::Context;
use fx_cfengine::start::start;
use fx_cfengine::{Component, Request};
use fx_engine::{Cancel, Ledger, Run};
use fx_host::OsHost;
use fx_report::console::cfengine::CfengineConsole;
use fx_source::SourceMap;

use super::tools::Call;

/// The request that a command line of a daemon makes.
pub(super) fn request(call: &Call, component: Component) -> Request {
    let here = call.rest.first();
    Request {
        component,
        file: here.cloned().or_else(|| call.value("file").map(str::to_owned)),
        here: here.is_some(),
        define: call.list("define"),
        negate: call.list("negate"),
        level: Some(call.log.0),
        no_lock: true,
        ignore_preferred_augments: call.has("ignore-preferred-augments"),
        ..Request::default()
    }
}

/// Reads policy and does something with it; the exit code of who read it otherwise.
pub(super) fn with_policy<T>(
    request: &Request,
    work: impl FnOnce(&mut Context<'_>) -> T,
) -> Result<T, u8> {
    let host = OsHost::new();
    let (cancel, ledger, sources) = (Cancel::new(), Ledger::new(), SourceMap::new());
    let out: Box<dyn Write> = Box::new(std::io::stdout());
    ledger.watch(Rc::new(CfengineConsole::new(out, Box::new(std::io::stdout()))));
    let run = Run::new(&host, &ledger, &cancel);
    let done = start(run, &sources, request).map_err(|ended| ended.code).map(|mut ctx| {
        ctx.resolve_policy();
        work(&mut ctx)
    });
    ledger.flush();
    done
}
