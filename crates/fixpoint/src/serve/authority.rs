//! The directory of the certificate authority, in the original's layout: read into the store
//! once, or made where there is none.

use std::path::{Path, PathBuf};

use fx_crypto::Random;
use fx_fleet::{AuthorityRecord, Fleet, Issued, ListRecord, RequestRecord};
use fx_host::{Clock, Edits, Env, Files, OsHost, WriteOptions};
use fx_wire::x509::{Authority, Certificate, Extension, Key, Request, Revocations, Wanted, oids};

use crate::personas::puppet::settings::Settings;

/// What the server needs of the authority and of its own certificate.
pub(crate) struct Grounds {
    pub(crate) authority: Authority,
    /// The authority that signs first, the root last.
    pub(crate) chain: Vec<Certificate>,
    pub(crate) key: Key,
    pub(crate) certificate: Certificate,
}

/// A list of revoked certificates is the largest file.
const MOST: u64 = 64 << 20;

const YEAR: u64 = 365 * 24 * 60 * 60;

/// Reads the authority, or makes one; takes it over into the store; and sees to it that the
/// server has a certificate.
pub(crate) fn ensure(
    host: &OsHost,
    settings: &Settings,
    certname: &str,
    fleet: &Fleet,
) -> Result<Grounds, String> {
    let paths = Paths::of(settings, certname);
    let there: Vec<&PathBuf> = [&paths.key, &paths.chain, &paths.list]
        .into_iter()
        .filter(|path| exists(host, path))
        .collect();
    match there.len() {
        3 => {}
        0 => create(host, settings, certname)?,
        _ => {
            let found = there.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
            return Err(format!(
                "cannot use a certificate authority with some of its files only; found: {}",
                found.join(", ")
            ));
        }
    }
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let chain_text = read(host, &paths.chain)?;
    let chain = Certificate::bundle(&chain_text).map_err(shown)?;
    let first = chain.first().cloned().ok_or("the authority has no certificate")?;
    let key = Key::from_pem(&read(host, &paths.key)?).map_err(shown)?;
    let authority = Authority::new(key, first).map_err(shown)?;
    take_over(host, &paths, fleet, &authority, &chain_text)?;
    let (key, certificate) = own_certificate(host, settings, certname, fleet, &authority, &paths)?;
    host.commit().map_err(|error| error.to_string())?;
    Ok(Grounds { authority, chain, key, certificate })
}

/// Files of the authority and of the server.
pub(crate) struct Paths {
    pub(crate) dir: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) public: PathBuf,
    pub(crate) chain: PathBuf,
    pub(crate) list: PathBuf,
    pub(crate) serial: PathBuf,
    pub(crate) inventory: PathBuf,
    pub(crate) signed: PathBuf,
    pub(crate) requests: PathBuf,
    pub(crate) host_key: PathBuf,
    pub(crate) host_public: PathBuf,
    pub(crate) host_certificate: PathBuf,
    pub(crate) local_chain: PathBuf,
    pub(crate) local_list: PathBuf,
}

impl Paths {
    pub(crate) fn of(settings: &Settings, certname: &str) -> Paths {
        let settings = settings.and("certname", certname);
        let path = |name: &str| PathBuf::from(settings.get(name));
        Paths {
            dir: path("cadir"),
            key: path("cakey"),
            public: path("capub"),
            chain: path("cacert"),
            list: path("cacrl"),
            serial: path("serial"),
            inventory: path("cert_inventory"),
            signed: path("signeddir"),
            requests: path("csrdir"),
            host_key: path("hostprivkey"),
            host_public: path("hostpubkey"),
            host_certificate: path("hostcert"),
            local_chain: path("localcacert"),
            local_list: path("hostcrl"),
        }
    }
}

pub(crate) fn exists(host: &OsHost, path: &Path) -> bool {
    host.lstat(path).is_ok()
}

/// Reads a file of the authority. It may belong to the user that the original runs as: whoever can
/// write the authority's key is the authority.
fn read(host: &OsHost, path: &Path) -> Result<String, String> {
    let bytes = host.read_limited(path, MOST).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| format!("'{}' is not text", path.display()))
}

/// Writes a file and makes the directories above it.
pub(crate) fn put(host: &OsHost, path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut missing: Vec<&Path> = dir.ancestors().take_while(|dir| !exists(host, dir)).collect();
    missing.reverse();
    for dir in missing {
        host.make_dir(dir, 0o750).map_err(|error| error.to_string())?;
    }
    let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
    host.write(path, text.as_bytes(), &options).map_err(|error| error.to_string())
}

/// A new key of the kind that the settings want.
pub(crate) fn new_key(host: &OsHost, settings: &Settings) -> Result<Key, String> {
    let mut source = |buffer: &mut [u8]| host.random(buffer);
    let random = Random(&mut source);
    let key = match settings.get("key_type").as_str() {
        "ec" => Key::curve(&settings.get("named_curve"), random),
        _ => Key::rsa(settings.get("keylength").parse().unwrap_or(4096), random),
    };
    key.map_err(|error| error.to_string())
}

fn seconds(host: &OsHost) -> u64 {
    u64::try_from(host.now().secs).unwrap_or(0)
}

/// Makes a root and an authority below it, as `puppetserver ca setup` does.
pub(crate) fn create(host: &OsHost, settings: &Settings, certname: &str) -> Result<(), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let paths = Paths::of(settings, certname);
    let now = seconds(host);
    let mut noise = [0; 7];
    host.random(&mut noise);
    let root_name = format!("Puppet Root CA: {}", fx_formats::hex(noise));
    let root_key = new_key(host, settings)?;
    let root = Authority::root(root_key, &root_name, 1, now, 15 * YEAR).map_err(shown)?;
    let name = settings.and("certname", certname).get("ca_name");
    let key = new_key(host, settings)?;
    let authority = root.intermediate(key, &name, 2, now, 15 * YEAR).map_err(shown)?;
    let lists = [
        authority.revoke(&[], 0, now, 5 * YEAR).map_err(shown)?,
        root.revoke(&[], 0, now, 5 * YEAR).map_err(shown)?,
    ];
    let lists: String = lists.iter().map(Revocations::to_pem).collect();
    let chain = authority.certificate().to_pem() + &root.certificate().to_pem();
    write_authority(host, &paths, &authority, &chain, &lists)?;
    put(host, &paths.dir.join("root_key.pem"), &root.key().to_pem().map_err(shown)?, 0o640)
}

/// Writes the files of an authority that has signed nothing yet.
pub(crate) fn write_authority(
    host: &OsHost,
    paths: &Paths,
    authority: &Authority,
    chain: &str,
    lists: &str,
) -> Result<(), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    put(host, &paths.chain, chain, 0o644)?;
    put(host, &paths.list, lists, 0o644)?;
    put(host, &paths.dir.join("infra_crl.pem"), lists, 0o644)?;
    put(host, &paths.key, &authority.key().to_pem().map_err(shown)?, 0o640)?;
    put(host, &paths.public, &authority.key().public().to_pem().map_err(shown)?, 0o644)?;
    put(host, &paths.inventory, "", 0o644)?;
    put(host, &paths.dir.join("infra_inventory.txt"), "", 0o644)?;
    put(host, &paths.dir.join("infra_serials"), "", 0o644)?;
    put(host, &paths.serial, "001", 0o644)
}

/// Reads what the authority signed and revoked into the store, where the store has none.
fn take_over(
    host: &OsHost,
    paths: &Paths,
    fleet: &Fleet,
    authority: &Authority,
    chain: &str,
) -> Result<(), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let known = fleet.authority().map_err(|error| error.to_string())?;
    if let Some(known) = known {
        let first = Certificate::from_pem(&known.chain).map_err(shown)?;
        if first != *authority.certificate() {
            return Err(format!(
                "the store belongs to another certificate authority than '{}'; use another store",
                paths.chain.display()
            ));
        }
        return Ok(());
    }
    let lists = Revocations::bundle(&read(host, &paths.list)?).map_err(shown)?;
    let is_own = |list: &&Revocations| list.is_signed_by(authority.certificate()) == Ok(true);
    let own = lists.iter().find(is_own);
    let own = own.ok_or("the authority has no list of revoked certificates of its own")?;
    let above: String =
        lists.iter().filter(|list| !is_own(list)).map(Revocations::to_pem).collect();
    let revoked: Vec<(String, u64)> = own
        .revoked()
        .into_iter()
        .map(|one| (fx_server::serial_text(&one.serial), one.at))
        .collect();
    let mut issued = Vec::new();
    for text in texts(host, &paths.signed)? {
        let certificate = Certificate::from_pem(&text).map_err(shown)?;
        issued.push(fx_server::issued(&certificate));
    }
    let mut requests = Vec::new();
    for text in texts(host, &paths.requests)? {
        let request = Request::from_pem(&text).map_err(shown)?;
        let name = request.name().unwrap_or_default();
        requests.push(RequestRecord { name, received: seconds(host), text: request.to_pem() });
    }
    // A name has a certificate or a request; the certificate counts.
    requests.retain(|one| issued.iter().all(|other: &Issued| other.name != one.name));
    let record =
        AuthorityRecord { chain: chain.to_owned(), next_serial: next_serial(host, paths, &issued) };
    let list =
        ListRecord { number: own.number(), written: seconds(host), own: own.to_pem(), above };
    fleet
        .found(&record, &list, &issued, &revoked, &requests)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// A serial number that was not given yet: by the file, by the inventory and by what is there.
fn next_serial(host: &OsHost, paths: &Paths, issued: &[Issued]) -> u64 {
    let text = |path: &Path| {
        let bytes = host.read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let number = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let given = text(&paths.inventory);
    let given = given.lines().filter_map(|line| number(line.split_whitespace().next()?));
    let signed = issued.iter().filter_map(|one| number(&one.serial));
    let most = given.chain(signed).max().map_or(1, |most| most + 1);
    number(&text(&paths.serial)).unwrap_or(1).max(most)
}

/// Texts of all PEM files of a directory.
fn texts(host: &OsHost, dir: &Path) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for entry in host.list(dir).unwrap_or_default() {
        let path = dir.join(&entry.name);
        if path.extension().is_some_and(|ending| ending == "pem") {
            texts.push(read(host, &path)?);
        }
    }
    Ok(texts)
}

/// The server's own key and certificate, which are made where they are missing.
fn own_certificate(
    host: &OsHost,
    settings: &Settings,
    certname: &str,
    fleet: &Fleet,
    authority: &Authority,
    paths: &Paths,
) -> Result<(Key, Certificate), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let has_key = exists(host, &paths.host_key);
    if exists(host, &paths.host_certificate) {
        if !has_key {
            return Err(format!(
                "Found master cert '{}' but master private key '{}' is missing",
                paths.host_certificate.display(),
                paths.host_key.display()
            ));
        }
        let key = Key::from_pem(&read(host, &paths.host_key)?).map_err(shown)?;
        let certificate =
            Certificate::from_pem(&read(host, &paths.host_certificate)?).map_err(shown)?;
        return Ok((key, certificate));
    }
    let key = if has_key {
        Key::from_pem(&read(host, &paths.host_key)?).map_err(shown)?
    } else {
        new_key(host, settings)?
    };
    let serial = fleet.take_serial().map_err(|error| error.to_string())?;
    let certificate = server_certificate(host, settings, certname, authority, &key, serial)?;
    fleet.issue(&fx_server::issued(&certificate), false).map_err(|error| error.to_string())?;
    put(host, &paths.host_key, &key.to_pem().map_err(shown)?, 0o640)?;
    put(host, &paths.host_public, &key.public().to_pem().map_err(shown)?, 0o644)?;
    put(host, &paths.host_certificate, &certificate.to_pem(), 0o644)?;
    for (from, to) in [(&paths.chain, &paths.local_chain), (&paths.list, &paths.local_list)] {
        if !exists(host, to) {
            put(host, to, &read(host, from)?, 0o644)?;
        }
    }
    Ok((key, certificate))
}

/// The certificate of a server: with its other names, and the right to administrate.
pub(crate) fn server_certificate(
    host: &OsHost,
    settings: &Settings,
    certname: &str,
    authority: &Authority,
    key: &Key,
    serial: u64,
) -> Result<Certificate, String> {
    let names = settings.get("dns_alt_names");
    let mut names: Vec<String> = names
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        names.push("puppet".into());
    }
    let bytes = serial.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(7);
    let wanted = Wanted {
        name: certname,
        public_key: key.public().clone(),
        serial: bytes[zeros..].to_vec(),
        alt_names: names,
        extensions: vec![Extension { oid: oids::CLI_AUTH.into(), text: "true".into() }],
        lifetime: lifetime(settings),
    };
    authority.sign(&wanted, seconds(host)).map_err(|error| error.to_string())
}

/// Seconds for which certificates are valid.
pub(crate) fn lifetime(settings: &Settings) -> u64 {
    settings.shown("ca_ttl").parse().unwrap_or(5 * YEAR)
}
