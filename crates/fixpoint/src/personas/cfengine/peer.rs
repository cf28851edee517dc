//! A connection of a small tool to a server: cf-net and cf-runagent.

use std::net::SocketAddr;
use std::time::Duration;

use fx_cfengine::config::configure;
use fx_cfengine::peers::{Peers, Trusted};
use fx_host::{Accounts, Clock, Env, Net, OsHost, Requests};
use fx_remote::cfengine::{Connection, Lost, Offer, Opened, Protocol, Wish};
use fx_wire::cfengine::{HostPort, PrivateKey, PublicKey, VERSION, self_signed};

use super::tools::Log;

const RELEASE: &str = "3.21.0";

/// Ourselves: key, certificate, user, and where keys of others are.
pub(super) struct Ourselves {
    pub(super) host: OsHost,
    pub(super) peers: Peers,
    key: PrivateKey,
    certificate: Vec<u8>,
    pub(super) user: String,
    program: &'static str,
}

/// What to do with a key that is not known.
pub(super) type Decide<'a> = &'a mut dyn FnMut(&PublicKey) -> bool;

impl Ourselves {
    /// Reads our key; what is wrong with it otherwise.
    pub(super) fn read(program: &'static str) -> Result<Ourselves, String> {
        let host = OsHost::new();
        let peers = Peers::new(&configure(&host, &fx_cfengine::Request::default()).paths.workdir);
        let no_key =
            |_| "No public/private key pair is loaded, please create one using cf-key".to_owned();
        let key = peers.own_key(&host).map_err(no_key)?;
        let now = u64::try_from(host.now().secs).unwrap_or_default();
        let certificate = self_signed(&key, now).map_err(|error| error.to_string())?;
        let user = host.user_by_id(host.euid()).ok().flatten().map(|user| user.name);
        let user = user.unwrap_or_else(|| "root".to_owned());
        Ok(Ourselves { host, peers, key, certificate, user, program })
    }

    /// Connects to the first address of a host that answers.
    pub(super) fn connect(
        &self,
        to: &HostPort,
        patience: Duration,
        offer: &Offer,
        log: Log,
        decide: Decide<'_>,
    ) -> Option<(Opened, String)> {
        let Some(port) = to.number() else {
            log.error(&format!("Invalid port in '{to}'"));
            return None;
        };
        let addresses = match self.host.resolve(&to.host) {
            Ok(addresses) => addresses,
            Err(error) => {
                let why = fx_cfengine::reason::bare_reason(&error);
                let text = format!("Unable to find host '{}' service '{port}' ({why})", to.host);
                log.line(fx_engine::Level::Info, &text);
                return None;
            }
        };
        for address in addresses {
            let socket = match self.host.dial(SocketAddr::new(address, port), patience) {
                Ok(socket) => socket,
                Err(error) => {
                    let why = fx_cfengine::reason::reason(&error);
                    let text = fx_cfengine::connect::worded(error.kind(), &why);
                    log.line(fx_engine::Level::Info, &text);
                    continue;
                }
            };
            let mut random = |buffer: &mut [u8]| self.host.random(buffer);
            let mut wish = Wish {
                key: &self.key,
                certificate: &self.certificate,
                user: &self.user,
                program: self.program,
                release: RELEASE,
                protocol: Protocol::Tls(VERSION),
                offer: offer.clone(),
                encrypt: false,
                known: None,
                random: &mut random,
                host: "localhost",
            };
            let mut trusts = |key: &PublicKey| self.trusts(key, log, decide);
            match Connection::open(socket, &mut wish, &mut trusts) {
                Ok(opened) => return Some((opened, address.to_string())),
                Err(Lost::Untrusted(_)) => {}
                Err(lost) => log.error(&lost.to_string()),
            }
        }
        None
    }

    fn trusts(&self, key: &PublicKey, log: Log, decide: Decide<'_>) -> bool {
        let digest = key.digest();
        match self.peers.trusts(&self.host, &self.user, key) {
            Trusted::Yes => true,
            Trusted::Different => {
                let text =
                    format!("Received key '{digest}' compares different to the one in ppkeys");
                log.notice(&text);
                decide(key)
            }
            Trusted::Unknown if decide(key) => {
                log.notice(&format!("Trusting new key: {digest}"));
                if let Err(error) = self.peers.trust(&self.host, &self.user, key) {
                    log.error(&error.to_string());
                }
                true
            }
            Trusted::Unknown => {
                log.error(&format!("TRUST FAILED, server presented untrusted key: {digest}"));
                false
            }
        }
    }
}
