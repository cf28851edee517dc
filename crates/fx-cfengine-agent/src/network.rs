//! Connections of a run to servers: one for each server, port and way to speak to it, kept until
//! the run ends.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::connect;
use fx_cfengine::peers::{Peers, Trusted};
use fx_cfengine::policy::Rval;
use fx_cfengine::reason::{bare_reason, reason};
use fx_engine::Level;
use fx_remote::cfengine::{Connection, Lost, Offer, Opened, Protocol, Wish};
use fx_wire::cfengine::{Direction, PrivateKey, PublicKey, VERSION, self_signed};

use crate::agent::Agent;

/// The release whose protocol we speak, as it is sent to peers.
const RELEASE: &str = "3.21.0";

/// Which server to reach, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) server: String,
    pub(crate) port: String,
    pub(crate) only_v4: bool,
    pub(crate) patience: Duration,
    /// Whether a key that is not known is trusted.
    pub(crate) trust: bool,
    pub(crate) encrypt: bool,
    pub(crate) protocol: Option<String>,
}

/// A connection that promises share.
#[derive(Clone)]
pub(crate) struct Line {
    /// Nothing once it was lost.
    pub(crate) connection: Rc<RefCell<Option<Connection>>>,
    pub(crate) address: IpAddr,
}

/// Our key and the certificate made from it.
struct Identity {
    key: PrivateKey,
    certificate: Vec<u8>,
    user: String,
}

/// Connections of this run.
#[derive(Default)]
pub(crate) struct Network {
    lines: Vec<(Reach, Line)>,
    identity: Option<Rc<Identity>>,
}

fn identity(ctx: &mut Agent<'_>) -> Option<Rc<Identity>> {
    if let Some(known) = &ctx.network.identity {
        return Some(Rc::clone(known));
    }
    let host = ctx.host();
    let key = match Peers::new(&ctx.config.paths.workdir).own_key(host) {
        Ok(key) => key,
        Err(_) => {
            ctx.error("No public/private key pair is loaded, please create one using cf-key");
            return None;
        }
    };
    let now = u64::try_from(host.now().secs).unwrap_or_default();
    let certificate = match self_signed(&key, now) {
        Ok(certificate) => certificate,
        Err(error) => {
            ctx.error(&format!("The key of this host cannot be used: {error}"));
            return None;
        }
    };
    let user = host.user_by_id(host.euid()).ok().flatten().map(|user| user.name);
    let user = user.unwrap_or_else(|| "root".to_owned());
    let made = Rc::new(Identity { key, certificate, user });
    ctx.network.identity = Some(Rc::clone(&made));
    Some(made)
}

/// A connection to a server: one that is there, or a new one. What goes wrong is logged.
pub(crate) fn reach(ctx: &mut Agent<'_>, wanted: &Reach) -> Option<Line> {
    let same = |known: &Reach| Reach { patience: wanted.patience, ..known.clone() } == *wanted;
    let known = ctx.network.lines.iter().find(|(known, _)| same(known)).map(|(_, line)| line);
    if let Some(line) = known.filter(|line| line.connection.borrow().is_some()) {
        return Some(line.clone());
    }
    let identity = identity(ctx)?;
    let (socket, address) = dial(ctx, wanted)?;
    let opened = open(ctx, wanted, &identity, socket, address)?;
    let peers = Peers::new(&ctx.config.paths.workdir);
    let contact = [(opened.key.digest(), address.to_string())];
    if !ctx.withholds()
        && let Err(error) = ctx.own_state(|act| peers.saw(act, &contact, Direction::Outgoing))
    {
        ctx.verbose(&error.to_string());
    }
    let line = Line { connection: Rc::new(RefCell::new(Some(opened.connection))), address };
    ctx.network.lines.retain(|(known, _)| !same(known));
    ctx.network.lines.push((wanted.clone(), line.clone()));
    Some(line)
}

// A connection to the server, or the line that ends every attempt at one.
fn dial(ctx: &Agent<'_>, wanted: &Reach) -> Option<(std::net::TcpStream, IpAddr)> {
    let reached = addresses(ctx, wanted).and_then(|to| first_that_accepts(ctx, wanted, to));
    if reached.is_none() {
        ctx.info(&format!("No server is responding on port: {}", wanted.port));
    }
    reached
}

fn addresses(ctx: &Agent<'_>, wanted: &Reach) -> Option<Vec<SocketAddr>> {
    let unknown = |why: &str| {
        let (server, port) = (&wanted.server, &wanted.port);
        ctx.info(&format!("Unable to find host '{server}' service '{port}' ({why})"));
    };
    let Ok(port) = wanted.port.parse::<u16>() else {
        unknown("Servname not supported for ai_socktype");
        return None;
    };
    let addresses = match ctx.host().resolve(&wanted.server) {
        Ok(addresses) => addresses,
        Err(error) => {
            unknown(&bare_reason(&error));
            return None;
        }
    };
    let fits = |address: &IpAddr| !wanted.only_v4 || address.is_ipv4();
    let fitting = addresses.into_iter().filter(fits);
    Some(fitting.map(|address| SocketAddr::new(address, port)).collect())
}

fn first_that_accepts(
    ctx: &Agent<'_>,
    wanted: &Reach,
    addresses: Vec<SocketAddr>,
) -> Option<(std::net::TcpStream, IpAddr)> {
    let what = format!("connection to {}", wanted.server);
    addresses.into_iter().find_map(|to| {
        match ctx.in_evaluation(&what, |act| act.dial(to, wanted.patience)) {
            Ok(socket) => Some((socket, to.ip())),
            Err(error) => {
                ctx.info(&connect::worded(error.kind(), &reason(&error)));
                None
            }
        }
    })
}

fn protocol(ctx: &Agent<'_>, wanted: &Reach) -> Protocol {
    let common = || ctx.control.text("common", "protocol_version").map(ToString::to_string);
    match wanted.protocol.clone().or_else(common).as_deref() {
        Some("1" | "classic") => Protocol::Classic,
        Some("2" | "tls") => Protocol::Tls(2),
        _ => Protocol::Tls(VERSION),
    }
}

fn open(
    ctx: &Agent<'_>,
    wanted: &Reach,
    identity: &Identity,
    socket: std::net::TcpStream,
    address: IpAddr,
) -> Option<Opened> {
    let host = ctx.host();
    let peers = Peers::new(&ctx.config.paths.workdir);
    let setting = |name: &str| ctx.control.text("common", name).map(ToString::to_string);
    let offer = Offer { ciphers: setting("tls_ciphers"), least: setting("tls_min_version") };
    let protocol = protocol(ctx, wanted);
    let known = match protocol {
        Protocol::Classic => peers.known(host, &identity.user, &address.to_string()),
        Protocol::Tls(_) => None,
    };
    let name = ctx.vars.get("sys", "fqhost").and_then(fx_cfengine::eval::vars::Found::scalar);
    let mut wish = Wish {
        key: &identity.key,
        certificate: &identity.certificate,
        user: &identity.user,
        program: "cf-agent",
        release: RELEASE,
        protocol,
        offer,
        encrypt: wanted.encrypt,
        known,
        random: &mut |buffer| host.random(buffer),
        host: name.as_deref().unwrap_or("localhost"),
    };
    // The old form looks a server up by its address alone: a key that is not known by then is not
    // trusted for being kept under another.
    let unknown = protocol == Protocol::Classic && wish.known.is_none() && !wanted.trust;
    let mut trusts = |key: &PublicKey| {
        if unknown {
            let digest = key.digest();
            ctx.error(&format!("TRUST FAILED, server presented untrusted key: {digest}"));
            return false;
        }
        trusts(ctx, &peers, &identity.user, wanted.trust, key)
    };
    match Connection::open(socket, &mut wish, &mut trusts) {
        Ok(opened) => Some(opened),
        // Why a key is not trusted was logged by then.
        Err(Lost::Untrusted(_)) => None,
        Err(lost) => {
            ctx.error(&format!("Failed to connect to '{}': {lost}", wanted.server));
            None
        }
    }
}

fn trusts(ctx: &Agent<'_>, peers: &Peers, user: &str, trust: bool, key: &PublicKey) -> bool {
    let digest = key.digest();
    if let Some(Rval::List(allowed)) = ctx.control.agent.get("copyfrom_restrict_keys") {
        let is_allowed = allowed.iter().filter_map(Rval::as_scalar).any(|allowed| key.is(allowed));
        if !is_allowed {
            ctx.error(&format!("Server key not in allowed keys, server presented: {digest}"));
            return false;
        }
    }
    let known = peers.trusts(ctx.host(), user, key);
    if known == Trusted::Different {
        let text = format!("Received key '{digest}' compares different to the one in ppkeys");
        ctx.log(Level::Notice, &text);
    }
    match known {
        Trusted::Yes => true,
        _ if !trust => {
            ctx.error(&format!("TRUST FAILED, server presented untrusted key: {digest}"));
            false
        }
        // What is there under this name stays.
        Trusted::Different => true,
        Trusted::Unknown => {
            ctx.log(Level::Notice, &format!("Trusting new key: {digest}"));
            if ctx.withholds() {
                return true;
            }
            match ctx.own_state(|act| peers.trust(act, user, key)) {
                Ok(()) => true,
                Err(error) => {
                    ctx.error(&error.to_string());
                    false
                }
            }
        }
    }
}
