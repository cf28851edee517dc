//! cf-serverd: what server policy allows, given to whoever connects.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fx_cfengine::config::{Paths, configure};
use fx_cfengine::peers::Peers;
use fx_cfengine::text::canonify;
use fx_cfengine::{Component, Request};
use fx_cfengine_server::{Control, Rules, from_policy};
use fx_host::{Files, OsHost, look_served, resolve_served};
use fx_server::cfengine::{Importance, Limits, Listening, serve_cfengine};

use crate::persona::Invocation;

use super::daemon::{self, PidFile};
use super::evaluate::{request, with_policy};
use super::site::{Messages, OsSite, system_log};
use super::tools;

pub(crate) fn serverd(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    if let Err(code) = daemon::into_background(&call) {
        return code;
    }
    let stop = fx_host::stop_on_signals();
    let hangup = fx_host::reload_on_hangup();
    let host = OsHost::new();
    let request = request(&call, Component::Server);
    let paths = configure(&host, &request).paths;
    let Ok(key) = Peers::new(&paths.workdir).own_key(&host) else {
        call.log.error("Public/private key pair not loaded, please create one using cf-key");
        return 0;
    };
    // Policy that cannot be read allows nothing.
    let rules = read_rules(&request).unwrap_or_default();
    let listener = match listen(&rules.control) {
        Ok(listener) => listener,
        Err(error) => {
            let why = error.to_string();
            let why = why.split(" (os error").next().unwrap_or_default();
            call.log.error(&format!("Could not bind server address. (bind: {why})"));
            return 1;
        }
    };
    call.log.notice("Server is starting...");
    let messages = if daemon::in_foreground(&call) {
        Messages::Here(call.log)
    } else {
        system_log("cf-serverd")
    };
    let pid_file = PidFile::of(&paths.pids, "cf-serverd");
    pid_file.begin(&host, call.log);
    let site = Arc::new(OsSite::new(rules, key, &paths.workdir, &paths.state, messages));
    let tick = ticking(&site, request, &paths, &hangup);
    let limits = Limits::default();
    let listening = Listening { listener, site: site.clone(), limits, stop, tick };
    let ended = serve_cfengine(listening);
    site.write_contacts(true);
    site.message(Importance::Notice, "Cleaning up and exiting...");
    pid_file.end(&host);
    if let Err(error) = ended {
        site.message(Importance::Error, &error.to_string());
        fx_host::leave(1);
    }
    fx_host::leave(0)
}

fn listen(control: &Control) -> std::io::Result<TcpListener> {
    if let Some(bind) = &control.bind
        && let Ok(address) = bind.parse()
    {
        return TcpListener::bind(SocketAddr::new(address, control.port));
    }
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, control.port)).or_else(|error| {
        // A machine without version 6.
        if error.kind() == std::io::ErrorKind::AddrInUse {
            return Err(error);
        }
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, control.port))
    })
}

/// What policy allows; nothing where it cannot be read.
pub(super) fn read_rules(request: &Request) -> Option<Rules> {
    let rules = with_policy(request, |ctx| {
        let policy = ctx.evaluate_server();
        let canonical = |path: &str| {
            let real = resolve_served(Path::new(path)).ok()?;
            let is_dir = look_served(&real).is_ok_and(|meta| meta.is_dir());
            Some((real.into_os_string().into_string().ok()?, is_dir))
        };
        let mut wrong = Vec::new();
        let mut rules =
            from_policy(&policy, &ctx.control, &canonical, &mut |text| wrong.push(text.to_owned()));
        for text in &wrong {
            ctx.error(text);
        }
        rules.classes = ctx.class_names();
        rules
    });
    rules.ok()
}

// Policy is read anew when nobody is connected and it was found right again, or HUP came.
fn ticking(
    site: &Arc<OsSite>,
    request: Request,
    paths: &Paths,
    hangup: &Arc<AtomicBool>,
) -> Box<dyn Fn(usize) + Send> {
    let stamp = match &request.file {
        None => format!("{}/cf_promises_validated", paths.masterfiles),
        Some(file) => format!("{}/validated_{}", paths.state, canonify(file)),
    };
    let (site, hangup) = (Arc::clone(site), Arc::clone(hangup));
    let entry = paths.entry.clone();
    let changed = move || {
        let host = OsHost::new();
        host.stat(Path::new(&stamp)).ok().map(|meta| (meta.mtime.secs, meta.mtime.nanos))
    };
    let last = std::sync::Mutex::new(changed());
    Box::new(move |open| {
        site.write_contacts(false);
        if open > 0 {
            return;
        }
        let now = changed();
        let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !hangup.swap(false, Ordering::SeqCst) && *last == now {
            return;
        }
        *last = now;
        site.message(Importance::Notice, &format!("Rereading policy file '{entry}'"));
        match read_rules(&request) {
            Some(rules) => site.exchange(rules),
            None => site.message(Importance::Info, "File changes contain errors -- ignoring"),
        }
    })
}
