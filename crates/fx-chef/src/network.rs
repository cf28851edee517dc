//! The server of a run: connections as Ruby asks for them, requests that only look, and those
//! that change something there.
//!
//! What changes the server is a change like any other: a step of the ledger, withheld where the
//! run is rehearsed or goes on in a copy of the machine.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::time::Duration;

use fx_engine::{Done, Mode, Outcome, Request as StepRequest, ResourceId};
use fx_remote::chef::{Again, Ask, AskError, Patience, Server, Signer, World};
use fx_remote::{
    Answer, CertificateProblem, Client, Content, Identity, NetError, Reach, Timeouts, Trust,
};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};
use fx_wire::chef::Protocol;
use fx_wire::x509::{Certificate, Key};

use crate::machine::{Machine, Method, bytes, raise, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("connect", connect),
    ("ask", ask),
    ("tell", tell),
    ("only_reads?", is_reading),
    ("acting?", is_acting),
    ("leaves_server?", leaves_server),
    ("make_key", make_key),
    ("keep_key", keep_key),
    ("unlock", unlock),
];

/// The most bytes of a key or of a bundle of certificates.
const MOST: u64 = 4 << 20;

/// Where a distribution keeps the authorities that everybody trusts.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// Connections and keys of a run.
#[derive(Default)]
pub(crate) struct Network {
    servers: RefCell<Vec<Server>>,
    /// A key that was made and is kept once the server knows it.
    fresh: RefCell<Option<Key>>,
    /// Whether the run goes on in a copy of the machine, once that was asked.
    in_copy: OnceCell<bool>,
}

/// The settings of a connection, by name.
struct Settings(Vec<(String, Value)>);

impl Settings {
    fn read(vm: &mut Vm, a: Args) -> Res<Settings> {
        let hash = vm.arg(a, 0);
        let mut all = Vec::new();
        if hash.is_hash() {
            for (name, value) in vm.hash_pairs(hash) {
                all.push((vm.to_s(name)?, value));
            }
        }
        Ok(Settings(all))
    }

    fn value(&self, name: &str) -> Option<Value> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).filter(|value| !value.is_nil())
    }

    fn text(&self, vm: &mut Vm, name: &str) -> Res<Option<String>> {
        self.value(name).map(|value| vm.to_s(value)).transpose()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.value(name).and_then(Value::fixnum).and_then(|number| u64::try_from(number).ok())
    }
}

/// `FX.connect(settings)`: a connection by its number. Nothing is sent yet.
fn connect(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let settings = Settings::read(vm, a)?;
    let url = settings.text(vm, "url")?.unwrap_or_default();
    let signer = signer(machine, vm, &settings)?;
    let trust = trust(machine, vm, &settings, &url)?;
    let identity = identity(machine, vm, &settings)?;
    let patience = Patience {
        retries: settings.number("retries").and_then(|n| u32::try_from(n).ok()).unwrap_or(5),
        delay: Duration::from_secs(settings.number("delay").unwrap_or(5)),
    };
    let limit = Duration::from_secs(settings.number("timeout").unwrap_or(300).max(1));
    let timeouts = Timeouts { connect: limit, read: limit };
    let reach = Reach { plain: true, proxy: settings.text(vm, "proxy")? };
    let headers = headers(vm, settings.value("headers").unwrap_or(NIL))?;
    let made = Client::reaching(&trust, identity.as_ref(), headers, timeouts, &reach)
        .map_err(|error| error.to_string())
        .and_then(|client| {
            Server::new(client, &url, signer, patience).map_err(|error| error.to_string())
        });
    let server = match made {
        Ok(server) => server,
        Err(why) => return raise(vm, "ConfigurationError", &why),
    };
    let mut servers = machine.network.servers.borrow_mut();
    servers.push(server);
    Ok(vm.int(servers.len() as i64 - 1))
}

/// A key of a file, or as text; the file's name is for messages.
fn signer(machine: &Machine, vm: &mut Vm, settings: &Settings) -> Res<Option<Signer>> {
    let Some(name) = settings.text(vm, "name")? else { return Ok(None) };
    let file = settings.text(vm, "key_file")?;
    let pem = match (settings.text(vm, "key")?, &file) {
        (Some(text), _) => text,
        (None, Some(file)) => match machine.read_private(file) {
            Some(text) => text,
            None => {
                let text =
                    format!("I cannot read {file}, which you told me to use to sign requests!");
                return raise(vm, "PrivateKeyMissing", &text);
            }
        },
        (None, None) => return Ok(None),
    };
    let Ok(key) = Key::from_pem(pem.trim()) else {
        let text = format!(
            "The file {} or :raw_key option does not contain a correctly formatted private key or the key is encrypted.\nThe key file should begin with '-----BEGIN RSA PRIVATE KEY-----' and end with '-----END RSA PRIVATE KEY-----'",
            file.unwrap_or_default()
        );
        return raise(vm, "InvalidPrivateKey", &text);
    };
    let protocol = match settings.text(vm, "protocol")?.as_deref() {
        Some("1.0") => Protocol::V1_0,
        Some("1.3") => Protocol::V1_3,
        _ => Protocol::V1_1,
    };
    Ok(Some(Signer { name, key, protocol }))
}

/// Authorities of the system and of the site; a server without TLS needs none.
fn trust(machine: &Machine, vm: &mut Vm, settings: &Settings, url: &str) -> Res<Trust> {
    let verify = settings.value("verify").is_none_or(Value::truthy);
    if !verify || !url.starts_with("https://") {
        return Ok(Trust::Anyone);
    }
    let look = machine.look();
    let own = settings.text(vm, "authorities")?;
    let bundle = match &own {
        Some(file) => look.read_limited(Path::new(file), MOST).ok(),
        None => BUNDLES.iter().find_map(|file| look.read_limited(Path::new(file), MOST).ok()),
    };
    let mut certificates = Vec::new();
    if let Some(bundle) = bundle {
        match Certificate::bundle(&String::from_utf8_lossy(&bundle)) {
            Ok(all) => certificates.extend(all),
            Err(error) if own.is_some() => {
                let text = format!("{}: {error}", own.unwrap_or_default());
                return raise(vm, "ConfigurationError", &text);
            }
            // What the system trusts is its own affair; a site's certificates still count.
            Err(_) => {}
        }
    }
    let files = settings.value("trusted").filter(|list| list.is_arr());
    for file in files.map(|list| vm.heap.arr(list).clone()).unwrap_or_default() {
        let file = vm.to_s(file)?;
        let read = look.read_trusted_up_to(Path::new(&file), MOST);
        let found = read.map_err(|error| error.to_string()).and_then(|text| {
            Certificate::bundle(&String::from_utf8_lossy(&text)).map_err(|error| error.to_string())
        });
        match found {
            Ok(all) => certificates.extend(all),
            Err(why) => {
                let text = format!(
                    "Error reading cert file '{file}', original error 'OpenSSL::X509::CertificateError: {why}'"
                );
                return raise(vm, "ConfigurationError", &text);
            }
        }
    }
    Ok(Trust::Known(certificates))
}

/// The certificate that we show to a server which wants one.
fn identity(machine: &Machine, vm: &mut Vm, settings: &Settings) -> Res<Option<Identity>> {
    let (cert, key) = (settings.text(vm, "client_cert")?, settings.text(vm, "client_key")?);
    let (Some(cert), Some(key)) = (cert, key) else { return Ok(None) };
    let certificate = machine
        .look()
        .read_limited(Path::new(&cert), MOST)
        .ok()
        .and_then(|text| Certificate::from_pem(&String::from_utf8_lossy(&text)).ok());
    let private = machine.read_private(&key).and_then(|text| Key::from_pem(text.trim()).ok());
    match (certificate, private) {
        (Some(certificate), Some(key)) => Ok(Some(Identity { certificate, key })),
        (None, _) => raise(vm, "ConfigurationError", &format!("Error reading cert file '{cert}'")),
        (_, None) => raise(vm, "ConfigurationError", &format!("Error reading key file '{key}'")),
    }
}

fn headers(vm: &mut Vm, hash: Value) -> Res<Vec<(String, String)>> {
    let mut all = Vec::new();
    if hash.is_hash() {
        for (name, value) in vm.hash_pairs(hash) {
            all.push((vm.to_s(name)?, vm.to_s(value)?));
        }
    }
    Ok(all)
}

/// What the machine gives to requests.
struct Surroundings<'a> {
    machine: &'a Machine,
    vm: RefCell<&'a mut Vm>,
}

impl World for Surroundings<'_> {
    fn timestamp(&self) -> String {
        let now = self.machine.look().now().secs;
        let at = jiff::Timestamp::from_second(now).unwrap_or_default();
        at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    fn random(&self, buffer: &mut [u8]) {
        self.machine.look().random(buffer);
    }

    fn wait(&self, again: &Again<'_>) -> bool {
        let line = crate::wording::again(again);
        self.machine.log_line(&mut self.vm.borrow_mut(), "warn", &line);
        self.machine.look().sleep(again.pause);
        !self.machine.cancel.is_cancelled()
    }
}

/// Whether a request leaves the server as it is. Looking for something and choosing cookbooks
/// are questions, though they carry a body.
fn only_reads(method: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    match method {
        "GET" | "HEAD" => true,
        "POST" => {
            let mut parts = path.trim_matches('/').rsplit('/');
            matches!(
                (parts.next(), parts.next()),
                (Some("cookbook_versions"), _) | (_, Some("search"))
            )
        }
        _ => false,
    }
}

/// `FX.ask(connection, method, path, headers, body, versions)`: the answer as `[status, headers,
/// body]`; where there is none `[nil, kind, text, address]`.
fn ask(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let number = vm.arg(a, 0).fixnum().and_then(|number| usize::try_from(number).ok());
    let method = text(vm, a, 1)?.unwrap_or_default();
    let path = text(vm, a, 2)?.unwrap_or_default();
    let given = vm.arg(a, 3);
    let given = headers(vm, given)?;
    let body = bytes(vm, a, 4)?;
    let versions = vm.arg(a, 5);
    let versions = if versions.is_arr() { vm.heap.arr(versions).clone() } else { Vec::new() };
    let versions: Vec<u8> =
        versions.iter().filter_map(|one| one.fixnum().and_then(|n| u8::try_from(n).ok())).collect();
    // Only a change that was allowed may act; see `tell`.
    let may_act = machine.effects.accounted.holds() && !machine.leaves_server_alone();
    if !only_reads(&method, &path) && !may_act {
        let text = format!("{method} {path} was not sent: it changes the server");
        return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, text);
    }
    let find = |name: &str| {
        let found = given.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    };
    let accept = find("accept").unwrap_or_else(|| "application/json".to_owned());
    let kind = find("content-type").unwrap_or_else(|| "application/json".to_owned());
    let set = ["accept", "content-type"];
    let more: Vec<(&str, &str)> = given
        .iter()
        .filter(|(name, _)| !set.iter().any(|one| name.eq_ignore_ascii_case(one)))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let request = Ask {
        method: &method,
        path: &path,
        accept: &accept,
        versions: &versions,
        headers: &more,
        content: body.as_deref().map(|bytes| Content { kind: &kind, bytes }),
    };
    let answer = {
        let servers = machine.network.servers.borrow();
        let Some(server) = number.and_then(|number| servers.get(number)) else {
            return vm.arg_error("there is no such connection");
        };
        let world = Surroundings { machine, vm: RefCell::new(vm) };
        server.ask(&request, &world)
    };
    match answer {
        Ok(answer) => answered(vm, &answer),
        Err(AskError::Stopped) => crate::actions::stopped(vm),
        Err(AskError::Net { url, error }) => {
            let (kind, why) = named(&error);
            let parts = [NIL, vm.str(kind), vm.str(why), vm.str(url)];
            Ok(vm.arr(parts.to_vec()))
        }
        Err(error @ (AskError::Address(_) | AskError::Key)) => {
            raise(vm, "ConfigurationError", &error.to_string())
        }
        Err(error @ AskError::Redirects(_)) => raise(vm, "InvalidRedirect", &error.to_string()),
    }
}

fn answered(vm: &mut Vm, answer: &Answer) -> R {
    let fields = vm.hash();
    for (name, value) in &answer.headers {
        let (name, value) = (vm.str(name.as_bytes()), vm.str(value.as_bytes()));
        vm.hash_set(fields, name, value)?;
    }
    let body = vm.str(answer.body.as_slice());
    let status = vm.int(i64::from(answer.status));
    Ok(vm.arr(vec![status, fields, body]))
}

/// The kind of a failure for Ruby, which has a class for each, and what is known beside it.
fn named(error: &NetError) -> (&'static str, String) {
    let kind = match error {
        NetError::Refused => "refused",
        NetError::Time => "time",
        NetError::Name => "name",
        NetError::Certificate(CertificateProblem::Host(_)) => "host",
        NetError::Certificate(_) => "certificate",
        NetError::Tls(_) => "tls",
        NetError::Connect(_) => "connect",
        NetError::Other(_) => "other",
    };
    (kind, error.to_string())
}

impl Machine {
    /// Whether the server must stay as it is: in a rehearsal, and in a copy of the machine, also
    /// where changes of the copy are made as if it were the machine.
    fn leaves_server_alone(&self) -> bool {
        let rehearsed = self.console.borrow().style.why_run || self.ledger.in_copy();
        rehearsed || *self.network.in_copy.get_or_init(fx_host::Sandbox::is_here)
    }

    /// The text of a file with a key, which is never shown.
    fn read_private(&self, file: &str) -> Option<String> {
        let path = self.request.cwd.join(file);
        let text = self.look().read_limited(&path, MOST).ok()?;
        String::from_utf8(text).ok()
    }
}

/// `FX.tell(kind, name, action, why, changes) { … }`: changes something that the server keeps, as
/// a step of its own. Gives the value of the block; nil where it was withheld.
fn tell(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let (kind, name) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    let (action, why) = (text(vm, a, 2)?.unwrap_or_default(), text(vm, a, 3)?.unwrap_or_default());
    let changes = crate::change::changes(vm, a, 4, false)?;
    let mut request = StepRequest::new(ResourceId::new(kind, name), action);
    request.phase = vm.hooks.phase.into();
    request.why = why.into();
    request.mode = if machine.leaves_server_alone() { Mode::Rehearse } else { Mode::Apply };
    let attempt = machine.run().open(request);
    let mut raised = None;
    let done = attempt.changes(&changes, |_| {
        machine.effects.accounted.during(|| crate::change::yielded(vm, a)).map_err(|_| {
            raised = vm.take_raise();
            crate::change::left_by(vm, raised)
        })
    });
    attempt.close(match &done {
        Ok(Done::Made(_)) => Outcome::Repaired,
        Ok(Done::Withheld) => Outcome::WouldRepair,
        Err(failure) => failure.clone().into(),
    });
    match (raised, done) {
        (Some(exception), _) => vm.throw(exception),
        (None, Ok(done)) => Ok(done.made().unwrap_or(NIL)),
        (None, Err(_)) => crate::actions::stopped(vm),
    }
}

/// `FX.only_reads?(method, path)`
fn is_reading(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (method, path) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    Ok(Value::bool(only_reads(&method, &path)))
}

/// `FX.acting?`: whether what happens now belongs to a change that was allowed.
fn is_acting(machine: &Machine, _: &mut Vm, _: Args) -> R {
    Ok(Value::bool(machine.effects.accounted.holds() && !machine.leaves_server_alone()))
}

/// `FX.leaves_server?`: whether the server stays as it is, whatever is asked for.
fn leaves_server(machine: &Machine, _: &mut Vm, _: Args) -> R {
    Ok(Value::bool(machine.leaves_server_alone()))
}

/// `FX.make_key(file | nil)`: makes a key pair, or reads the one of a file, and gives its public
/// half. The private one stays here.
fn make_key(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let found = match text(vm, a, 0)? {
        Some(file) => machine.read_private(&file).and_then(|text| Key::from_pem(text.trim()).ok()),
        None => {
            let mut source = |buffer: &mut [u8]| machine.look().random(buffer);
            Key::rsa(2048, fx_crypto::Random(&mut source)).ok()
        }
    };
    let public = found.as_ref().and_then(|key| key.public().to_pem().ok());
    let (Some(key), Some(public)) = (found, public) else {
        return raise(vm, "InvalidPrivateKey", "no key could be made");
    };
    *machine.network.fresh.borrow_mut() = Some(key);
    Ok(vm.str(public))
}

/// `FX.keep_key(file, text | nil)`: writes the key that was made, or one that the server gave,
/// for nobody else to read. A link in its place is not followed.
fn keep_key(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let file = text(vm, a, 0)?.unwrap_or_default();
    let path = machine.request.cwd.join(&file);
    let pem = match text(vm, a, 1)? {
        Some(given) => Some(given),
        None => machine.network.fresh.borrow().as_ref().and_then(|key| key.to_pem().ok()),
    };
    let is_link = machine.look().lstat(&path).is_ok_and(|meta| meta.is_symlink());
    let follow = vm.opt(a, 2).is_some_and(Value::truthy);
    let (Some(pem), true) = (pem, follow || !is_link) else {
        let text = format!("Error writing private key to {file}: it is a symbolic link");
        return raise(vm, "CannotWritePrivateKey", &text);
    };
    machine.keep(vm, &path, pem.as_bytes(), Some(0o600))?;
    Ok(NIL)
}

/// `FX.unlock(file, bytes, text | nil)`: what was encrypted for a key, that of the text or else of the
/// file; nil where it was not.
fn unlock(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let file = text(vm, a, 0)?.unwrap_or_default();
    let locked = bytes(vm, a, 1)?.unwrap_or_default();
    let given = text(vm, a, 2)?.or_else(|| machine.read_private(&file));
    let key = given.and_then(|text| Key::from_pem(text.trim()).ok());
    let mut source = |buffer: &mut [u8]| machine.look().random(buffer);
    let opened = key.as_ref().and_then(Key::rsa_der).and_then(|der| {
        fx_crypto::rsa_key::decrypt(der, &locked, fx_crypto::Random(&mut source)).ok()
    });
    Ok(opened.map_or(NIL, |opened| vm.str(opened)))
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn questions_with_a_body_only_read() {
        for (method, path, reads) in [
            ("GET", "nodes/x", true),
            ("HEAD", "nodes/x", true),
            ("POST", "environments/prod/cookbook_versions", true),
            ("POST", "search/node?q=*:*", true),
            ("POST", "nodes", false),
            ("POST", "data/search", false),
            ("PUT", "search/node", false),
            ("POST", "clients?x=search/node", false),
            ("DELETE", "nodes/x", false),
        ] {
            assert_eq!(only_reads(method, path), reads, "{method} {path}");
        }
    }
}
