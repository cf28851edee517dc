//! The face for Chef's clients: keys of a first start, and a thread that listens.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use fx_chef_server::{NewKeys, Parts, Server};
use fx_crypto::Random;
use fx_fleet::Fleet;
use fx_host::{Clock, Edits, Env, Files, OsHost, WriteOptions};
use fx_server::{Limits, Tls};
use fx_wire::x509::{Key, PublicKey};

use crate::terminal;

type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// What is wanted of the server.
pub(crate) struct ChefWish<'a> {
    pub(crate) address: &'a str,
    /// Without TLS, which is for a proxy on the same machine.
    pub(crate) is_plain: bool,
    /// Where keys go.
    pub(crate) dir: &'a Path,
    /// The organization that a first start makes.
    pub(crate) organization: &'a str,
    /// The public key of a web page that signs for the users who are logged in there.
    pub(crate) web_key: Option<&'a Path>,
}

/// A server that is ready to listen.
pub(crate) struct Chef {
    listener: TcpListener,
    server: Arc<Server>,
    is_plain: bool,
}

/// Name of the first user.
const ADMIN: &str = "admin";

impl Chef {
    /// Opens the port, and makes the superuser, an organization, its validator and an
    /// administrator where they are missing. Their keys go to files that only we can read.
    pub(crate) fn prepare(
        host: &OsHost,
        wish: &ChefWish<'_>,
        fleet: &Fleet,
        log: &Log,
    ) -> Result<Chef, String> {
        let ChefWish { address, is_plain, dir, organization, web_key } = *wish;
        let listener = TcpListener::bind(address)
            .map_err(|error| format!("cannot listen on '{address}': {error}"))?;
        let bound = listener.local_addr().map_err(|error| error.to_string())?;
        if is_plain && !bound.ip().is_loopback() {
            return Err(format!("'{address}' is seen by other machines: keys need TLS there"));
        }
        let scheme = if is_plain { "http" } else { "https" };
        let web_key = web_key.map(|file| public_key(host, file)).transpose()?;
        let server = over_store(host, dir, fleet, log, scheme, web_key)?;
        first_organization(host, dir, &server, organization)?;
        terminal::print(&format!("listening for Chef on {bound}\n"));
        Ok(Chef { listener, server: Arc::new(server), is_plain })
    }

    /// Serves on a thread of its own, until the flag is set.
    pub(crate) fn start(
        self,
        tls: &Tls,
        log: &Log,
        stop: &Arc<AtomicBool>,
    ) -> JoinHandle<Result<(), String>> {
        let (tls, log, stop) = (tls.clone(), Arc::clone(log), Arc::clone(stop));
        std::thread::spawn(move || {
            let Chef { listener, server, is_plain } = self;
            let tls = (!is_plain).then_some(&tls);
            fx_server::serve_chef(listener, server, tls, Limits::default(), log, stop)
                .map_err(|error| error.to_string())
        })
    }
}

/// Makes a directory, and those above it that are missing, for nobody else to read.
pub(crate) fn make_private_dirs(host: &OsHost, dir: &Path) -> Result<(), String> {
    let mut missing: Vec<&Path> =
        dir.ancestors().take_while(|dir| host.lstat(dir).is_err()).collect();
    missing.reverse();
    for dir in missing {
        host.make_dir(dir, 0o700).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Chef's server over a store. Its superuser is made where there is none, with a key in a file
/// that only we can read.
pub(crate) fn over_store(
    host: &OsHost,
    dir: &Path,
    fleet: &Fleet,
    log: &Log,
    scheme: &'static str,
    web_key: Option<String>,
) -> Result<Server, String> {
    make_private_dirs(host, dir)?;
    let server = Server::new(Parts {
        fleet: fleet.clone(),
        clock: Arc::new(|| u64::try_from(OsHost::new().now().secs).unwrap_or(0)),
        random: Arc::new(|buffer: &mut [u8]| OsHost::new().random(buffer)),
        scheme,
        web_key,
        log: Arc::clone(log),
    })?;
    let superuser = dir.join("pivotal.pem");
    let key = match host.read(&superuser) {
        Ok(text) => Key::from_pem(&String::from_utf8_lossy(&text)),
        Err(error) if error.is_not_found() => {
            let mut source = |buffer: &mut [u8]| host.random(buffer);
            let key = Key::rsa(2048, Random(&mut source)).map_err(|why| why.to_string())?;
            write_private(host, &superuser, &key.to_pem().map_err(|why| why.to_string())?)?;
            Ok(key)
        }
        Err(error) => return Err(error.to_string()),
    };
    let key = key.map_err(|error| format!("{}: {error}", superuser.display()))?;
    server.ensure_superuser(&key.public().to_pem().map_err(|error| error.to_string())?)?;
    Ok(server)
}

/// Makes an organization, its validator and an administrator where they are missing.
pub(crate) fn first_organization(
    host: &OsHost,
    dir: &Path,
    server: &Server,
    organization: &str,
) -> Result<(), String> {
    let Some(NewKeys { validator, admin }) = server.ensure_organization(organization, ADMIN)?
    else {
        return Ok(());
    };
    let file = dir.join(format!("{organization}-validator.pem"));
    write_private(host, &file, &validator)?;
    terminal::print(&format!("key of the validator: {}\n", file.display()));
    if let Some(admin) = admin {
        let file = dir.join(format!("{ADMIN}.pem"));
        write_private(host, &file, &admin)?;
        terminal::print(&format!("key of the user '{ADMIN}': {}\n", file.display()));
    }
    Ok(())
}

/// The most bytes of a public key.
const MOST: u64 = 64 << 10;

/// A public key that nobody else can change.
fn public_key(host: &OsHost, file: &Path) -> Result<String, String> {
    let text = host.read_trusted_up_to(file, MOST).map_err(|error| error.to_string())?;
    let pem = String::from_utf8_lossy(&text).into_owned();
    match PublicKey::from_pem(&pem) {
        Ok(key) if key.rsa_der().is_some() => Ok(pem),
        Ok(_) => Err(format!("{}: the key is not one of RSA", file.display())),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn write_private(host: &OsHost, file: &Path, text: &str) -> Result<(), String> {
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    host.write(file, text.as_bytes(), &options).map_err(|error| error.to_string())
}
