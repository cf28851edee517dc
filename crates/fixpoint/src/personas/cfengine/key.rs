//! cf-key: makes keys, prints their digests, trusts and removes those of others.

use std::path::{Path, PathBuf};

use fx_cfengine::config::configure;
use fx_cfengine::peers::{Peers, Unusable, read_public};
use fx_crypto::Random;
use fx_host::{Act, Edits, Env, Files, HostError, Net, OsHost, WriteOptions};
use fx_wire::cfengine::{Contact, Direction, PrivateKey, Removal};

use crate::persona::Invocation;

use super::say;
use super::tools::{self, Call};

const BITS: usize = 2048;
const SEED: usize = 1024;

/// Exit codes of a removal.
const NO_FILE: u8 = 1;
const UNKNOWN: u8 = 252;
const INCOHERENT: u8 = 254;
const FAILED: u8 = 255;

pub(crate) fn key(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let host = OsHost::new();
    let workdir = configure(&host, &fx_cfengine::Request::default()).paths.workdir.clone();
    let peers = Peers::new(&workdir);
    let code = if let Some(file) = call.value("print-digest") {
        print(&call, &host, Path::new(file))
    } else if call.has("show-hosts") {
        show(&call, &host, &peers)
    } else if let Some(name) = call.value("remove-keys") {
        remove(&call, &host, &peers, name)
    } else if let Some(text) = call.value("trust-key") {
        trust(&call, &host, &peers, text)
    } else if call.has("install-license") {
        call.log.error("License installation only applies to CFEngine Enterprise");
        1
    } else {
        make(&call, &host, &peers, &workdir)
    };
    match host.commit() {
        Ok(()) => code,
        Err(error) => {
            call.log.error(&error.to_string());
            code.max(1)
        }
    }
}

fn unreadable(call: &Call, file: &Path, why: &Unusable) -> u8 {
    let reason = match why {
        Unusable::File(error) => fx_cfengine::reason::reason(error),
        Unusable::Key(error) => error.to_string(),
    };
    let file = file.display();
    call.log.error(&format!("Cannot open public key file '{file}' (fopen: {reason})"));
    1
}

fn print(call: &Call, host: &OsHost, file: &Path) -> u8 {
    match read_public(host, file) {
        Ok(key) => {
            say(key.digest().as_str());
            0
        }
        Err(why) => unreadable(call, file, &why),
    }
}

fn make(call: &Call, host: &OsHost, peers: &Peers, workdir: &str) -> u8 {
    let (private, public) = match call.value("output-file") {
        Some(base) => (PathBuf::from(format!("{base}.priv")), PathBuf::from(format!("{base}.pub"))),
        None => (peers.private_file(), peers.public_file()),
    };
    let bits = match call.value("key-type").map(str::parse) {
        None => BITS,
        Some(Ok(bits)) => bits,
        Some(Err(_)) => {
            let text = call.value("key-type").unwrap_or_default();
            call.log.error(&format!(
                "Conversion error (-81 - No digits) on '{text}' (StringToLongExitOnError)"
            ));
            return 1;
        }
    };
    for file in [&public, &private] {
        if host.exists(file).unwrap_or(true) {
            call.log.error(&format!("A key file already exists at {}", file.display()));
            return 1;
        }
    }
    let mut random = |buffer: &mut [u8]| host.random(buffer);
    let key = match PrivateKey::generate(bits, Random(&mut random)) {
        Ok(key) => key,
        Err(error) => {
            call.log.error(&format!("Unable to generate key '{error}'"));
            return 1;
        }
    };
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    let mut seed = vec![0; SEED];
    host.random(&mut seed);
    let written = make_directories(host, workdir)
        .and_then(|()| host.write(&private, key.to_pem().as_bytes(), &options))
        .and_then(|()| host.write(&public, key.public().to_pem().as_bytes(), &options))
        .and_then(|()| host.write(Path::new(&format!("{workdir}/randseed")), &seed, &options));
    match written {
        Ok(()) => 0,
        Err(error) => {
            call.log.error(&error.to_string());
            1
        }
    }
}

fn make_directories(host: &OsHost, workdir: &str) -> Result<(), HostError> {
    for dir in [workdir.to_owned(), format!("{workdir}/ppkeys"), format!("{workdir}/state")] {
        if !host.exists(Path::new(&dir))? {
            host.make_dir(Path::new(&dir), 0o700)?;
        }
    }
    Ok(())
}

fn name_of(call: &Call, host: &OsHost, contact: &Contact) -> String {
    if call.has("numeric") {
        return contact.address.clone();
    }
    let address = contact.address.parse().ok();
    let name = address.and_then(|address| host.reverse(address).ok().flatten());
    name.unwrap_or_else(|| "-".to_owned())
}

fn show(call: &Call, host: &OsHost, peers: &Peers) -> u8 {
    let contacts = peers.seen(host).contacts();
    let row = |cells: [&str; 5]| {
        if call.has("no-truncate") {
            return cells.join("\t");
        }
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        format!(
            "{:<10} {:<40} {:<25} {:<26} {}",
            cut(cells[0], 10),
            cut(cells[1], 40),
            cut(cells[2], 25),
            cut(cells[3], 26),
            cells[4]
        )
    };
    say(&row(["Direction", "IP", "Name", "Last connection", "Key"]));
    for contact in &contacts {
        let direction = match contact.direction {
            Direction::Incoming => "Incoming",
            Direction::Outgoing => "Outgoing",
        };
        let time = jiff::Timestamp::from_second(contact.last).unwrap_or_default();
        let time = time.to_zoned(jiff::tz::TimeZone::system());
        let time = time.strftime("%a %b %e %H:%M:%S %Y").to_string();
        let name = name_of(call, host, contact);
        say(&row([direction, &contact.address, &name, &time, &contact.digest]));
    }
    say(&format!("Total Entries: {}", contacts.len()));
    0
}

fn trust(call: &Call, host: &OsHost, peers: &Peers, text: &str) -> u8 {
    // The last colon separates, so that addresses of version 6 can stand before it.
    let (address, file) = match text.rsplit_once(':') {
        Some((address, file)) => (Some(address), file),
        None => (None, text),
    };
    let (user, address) = match address.and_then(|address| address.split_once('@')) {
        Some((user, address)) => (user, Some(address)),
        None => ("root", address),
    };
    if address.is_none() {
        call.log.notice(
            "Establishing trust might be incomplete. For completeness, use --trust-key IPADDR:filename",
        );
    }
    let key = match read_public(host, Path::new(file)) {
        Ok(key) => key,
        Err(why) => return unreadable(call, Path::new(file), &why),
    };
    let trusted = peers.trust(host, user, &key).and_then(|()| match address {
        Some(address) => {
            let contact = [(key.digest(), address.to_owned())];
            peers.saw(host, &contact, Direction::Outgoing)
        }
        None => Ok(()),
    });
    match trusted {
        Ok(()) => 0,
        Err(error) => {
            call.log.error(&error.to_string());
            1
        }
    }
}

fn remove(call: &Call, host: &OsHost, peers: &Peers, name: &str) -> u8 {
    let seen = peers.seen(host);
    let digest = seen.digest_of(name).unwrap_or_else(|| name.to_owned());
    let mut removal = Removal::Unknown;
    let changed = peers.change_seen(host, |seen, _| {
        removal = seen.remove(name, !call.has("force-removal"));
        removal == Removal::Removed
    });
    if let Err(error) = changed {
        call.log.error(&error.to_string());
        return FAILED;
    }
    if removal == Removal::Incoherent {
        call.log.error("Lastseen database is incoherent (there is not a 1-to-1 relationship between hosts and keys) and coherence check is enforced. Will not proceed to remove entries from it.");
        return INCOHERENT;
    }
    let files = keys_of(host, peers, &digest);
    match (removal, files.is_empty()) {
        (Removal::Removed, true) => NO_FILE,
        (Removal::Unknown, true) => UNKNOWN,
        _ => {
            for file in files {
                if let Err(error) = host.remove_file(&file) {
                    call.log.error(&error.to_string());
                    return FAILED;
                }
            }
            0
        }
    }
}

// Files of a key, whoever its user was.
fn keys_of(host: &dyn Act, peers: &Peers, digest: &str) -> Vec<PathBuf> {
    let ending = format!("-{digest}.pub");
    let entries = host.list(&peers.file("")).unwrap_or_default();
    let names = entries.iter().map(|entry| entry.name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(&ending)).map(|name| peers.file(&name)).collect()
}
