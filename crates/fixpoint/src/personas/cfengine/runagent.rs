//! cf-runagent: asks servers to run their own agent.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fx_cfengine::Component;
use fx_engine::Level;
use fx_host::Net;
use fx_remote::cfengine::{Offer, Said};
use fx_wire::cfengine::HostPort;

use crate::persona::Invocation;

use super::evaluate::{request, with_policy};
use super::peer::Ourselves;
use super::say;
use super::tools::{self, Call};

const PATIENCE: u64 = 30;
/// Of one host without an exit status of its own.
const NO_RUN: u8 = 255;
const MOST_FAILURES: usize = 100;
/// Hosts that `-b` without a number connects to at once.
const AT_ONCE: usize = 50;

pub(crate) fn runagent(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    for (name, letter) in [("remote-options", 'o'), ("diagnostic", 'x')] {
        if call.has(name) {
            call.log.error(&format!(
                "Option \"-{letter}\" has been deprecated, you can not pass arbitrary arguments to remote cf-agent"
            ));
            return 1;
        }
    }
    let hosts = match hosts(&call) {
        Ok(hosts) if hosts.is_empty() => return 0,
        Ok(hosts) => hosts,
        Err(code) => return code,
    };
    let ourselves = match Ourselves::read("cf-runagent") {
        Ok(ourselves) => ourselves,
        Err(why) => {
            call.log.error(&why);
            return 1;
        }
    };
    let codes = if call.has("background") && !call.has("interactive") {
        together(&call, &hosts)
    } else {
        hosts.iter().map(|to| one_host(&call, &ourselves, to)).collect()
    };
    match codes.as_slice() {
        [one] => one.and_then(|code| u8::try_from(code).ok()).unwrap_or(NO_RUN),
        several => {
            let failed = several.iter().filter(|code| **code != Some(0)).count();
            failed.min(MOST_FAILURES) as u8
        }
    }
}

// Several hosts at once: each worker takes the next one until none is left.
fn together(call: &Call, hosts: &[HostPort]) -> Vec<Option<i32>> {
    let most = call.value("background").and_then(|text| text.parse().ok()).unwrap_or(AT_ONCE);
    let next = AtomicUsize::new(0);
    let codes = Mutex::new(vec![None; hosts.len()]);
    std::thread::scope(|scope| {
        for _ in 0..most.clamp(1, hosts.len()) {
            scope.spawn(|| {
                let Ok(ourselves) = Ourselves::read("cf-runagent") else { return };
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some(to) = hosts.get(at) else { return };
                    let code = one_host(call, &ourselves, to);
                    codes.lock().unwrap_or_else(PoisonError::into_inner)[at] = code;
                }
            });
        }
        call.log.notice("Waiting for child processes to finish");
    });
    codes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

// Policy is read in any case, and must be right.
fn hosts(call: &Call) -> Result<Vec<HostPort>, u8> {
    let promised = with_policy(&request(call, Component::Runagent), |ctx| {
        let hosts = ctx.control.list("runagent", "hosts");
        hosts.iter().map(ToString::to_string).collect::<Vec<String>>()
    })?;
    let named = call.list("hail");
    let named = if named.is_empty() { promised } else { named };
    Ok(named.iter().map(|name| HostPort::parse(name)).collect())
}

fn one_host(call: &Call, ourselves: &Ourselves, to: &HostPort) -> Option<i32> {
    let log = call.log;
    let port = to.port.clone().unwrap_or_else(|| "5308".to_owned());
    let dots = "...........................................................................";
    for text in [dots.to_owned(), format!("Hailing {} : {port}", to.host), dots.to_owned()] {
        log.line(Level::Info, &text);
    }
    if ourselves.host.resolve(&to.host).is_err() {
        log.error(&format!("HailServer: ERROR, could not resolve '{}'", to.host));
        return None;
    }
    let seconds = call.value("timeout").and_then(|text| text.parse().ok()).unwrap_or(PATIENCE);
    let interactive = call.has("interactive");
    let mut decide =
        |key: &fx_wire::cfengine::PublicKey| interactive && asked(key.digest().as_str());
    let patience = Duration::from_secs(seconds);
    let opened = ourselves.connect(to, patience, &Offer::default(), log, &mut decide);
    let Some((opened, address)) = opened else {
        log.line(Level::Info, &format!("Unable to establish connection to '{}'", to.host));
        return None;
    };
    let mut connection = opened.connection;
    let part = |flag: &str, items: Vec<String>| match items.as_slice() {
        [] => String::new(),
        items => format!("{flag}{} ", items.join(",")),
    };
    let arguments =
        part("-D", call.list("define-class")) + &part("-b ", call.list("remote-bundles"));
    let classes = call.list("select-class");
    let classes: Vec<String> =
        classes.iter().flat_map(|text| text.split([':', ' '])).map(str::to_owned).collect();
    let mut hear = |said: Said| match said {
        Said::Output(line) => say(&format!("{address}> -> {line}")),
        Said::Refusal(line) => say(&format!("{address}> !! {line}")),
        Said::Note(line) => say(&format!("{address}> {line}")),
    };
    match connection.execute(arguments.trim_end(), &classes, &mut hear) {
        Ok(ending) => ending.code,
        Err(lost) => {
            log.error(&lost.to_string());
            None
        }
    }
}

// Whether somebody at the terminal says yes.
fn asked(digest: &str) -> bool {
    let _closed = write!(
        std::io::stdout(),
        "WARNING - You do not have a public key from this host: {digest}\n          Do you want to accept one on trust? (yes/no)\n\n--> "
    );
    let _closed = std::io::stdout().flush();
    let mut answer = String::new();
    let heard = std::io::stdin().lock().read_line(&mut answer);
    heard.is_ok() && answer.trim() == "yes"
}
