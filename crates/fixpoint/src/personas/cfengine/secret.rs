//! cf-secret: files that only hosts with certain keys can read.

use std::io::{Read, Write};
use std::path::Path;

use fx_cfengine::config::configure;
use fx_cfengine::peers::{Peers, read_public};
use fx_host::{Edits, Env, Files, Net, OsHost, WriteOptions, limits};
use fx_wire::cfengine::secret::{Headers, SecretError, decrypt, encrypt};
use fx_wire::cfengine::{PrivateKey, PublicKey};

use crate::persona::Invocation;

use super::say;
use super::tools::{self, Call};

pub(crate) fn secret(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let host = OsHost::new();
    let peers = Peers::new(&configure(&host, &fx_cfengine::Request::default()).paths.workdir);
    let (command, file) = match call.rest.as_slice() {
        [command, file] => (command.as_str(), file.as_str()),
        [command] if matches!(command.as_str(), "encrypt" | "decrypt" | "print-headers") => {
            call.log.error("Input file not specified");
            return 1;
        }
        [command, ..] => {
            call.log.error(&format!("Unknown command: '{command}'"));
            return 1;
        }
        [] => {
            call.log.error("Command not specified");
            return 1;
        }
    };
    if call.has("key") && call.has("host") {
        call.log.error(
            "--host/-H is used to specify a public key and should not be used with --key/-k",
        );
        return 1;
    }
    let done = match command {
        "encrypt" => encrypt_file(&call, &host, &peers, file),
        "decrypt" => decrypt_file(&call, &host, &peers, file),
        "print-headers" => print_headers(&host, file),
        _ => Err(format!("Unknown command: '{command}'")),
    };
    match done.and_then(|()| host.commit().map_err(|error| error.to_string())) {
        Ok(()) => 0,
        Err(why) => {
            call.log.error(&why);
            1
        }
    }
}

fn read_input(host: &OsHost, file: &str) -> Result<Vec<u8>, String> {
    if file == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(limits::WHOLE).read_to_end(&mut bytes);
        return read.map(|_| bytes).map_err(|error| error.to_string());
    }
    host.read(Path::new(file)).map_err(|error| {
        let why = fx_cfengine::reason::reason(&error);
        format!("Could not open input file '{file}': {why}")
    })
}

fn write_output(call: &Call, host: &OsHost, bytes: &[u8]) -> Result<(), String> {
    match call.value("output") {
        None => Err("Output file not specified".to_owned()),
        Some("-") => std::io::stdout().write_all(bytes).map_err(|error| error.to_string()),
        Some(file) => {
            let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
            host.write(Path::new(file), bytes, &options).map_err(|error| error.to_string())
        }
    }
}

// The key of a host: our own, one that was seen, or one that is kept by its address.
fn key_of_host(host: &OsHost, peers: &Peers, name: &str) -> Result<PublicKey, String> {
    let none = || format!("Unable to locate key file for host '{name}'");
    let addresses = host.resolve(name).map_err(|_| none())?;
    for address in addresses {
        if address.is_loopback() {
            return peers.own_public_key(host).map_err(|error| error.to_string());
        }
        let address = address.to_string();
        if let Some(key) = peers.known(host, "root", &address) {
            return Ok(key);
        }
        if let Ok(key) = read_public(host, &peers.file(&format!("root-{address}.pub"))) {
            return Ok(key);
        }
    }
    Err(none())
}

fn encrypt_file(call: &Call, host: &OsHost, peers: &Peers, file: &str) -> Result<(), String> {
    let mut keys = Vec::new();
    for name in call.list("key") {
        let key = read_public(host, Path::new(&name));
        keys.push(
            key.map_err(|error| format!("Failed to load public key from '{name}': {error}"))?,
        );
    }
    for name in call.list("host") {
        keys.push(key_of_host(host, peers, &name)?);
    }
    if keys.is_empty() {
        keys.push(key_of_host(host, peers, "localhost")?);
    }
    let content = read_input(host, file)?;
    let mut random = |buffer: &mut [u8]| host.random(buffer);
    let shut = encrypt(&content, &keys, &mut random).map_err(|error| error.to_string())?;
    write_output(call, host, &shut)
}

fn decrypt_file(call: &Call, host: &OsHost, peers: &Peers, file: &str) -> Result<(), String> {
    let mut keys: Vec<PrivateKey> = Vec::new();
    for name in call.list("key") {
        let bytes = host.read_limited(Path::new(&name), limits::DATA);
        let bytes = bytes.map_err(|error| error.to_string())?;
        let key = PrivateKey::from_pem(&String::from_utf8_lossy(&bytes));
        keys.push(
            key.map_err(|error| format!("Failed to load private key from '{name}': {error}"))?,
        );
    }
    if keys.is_empty() {
        keys.push(peers.own_key(host).map_err(|error| error.to_string())?);
    }
    let bytes = read_input(host, file)?;
    let mut random = |buffer: &mut [u8]| host.random(buffer);
    let opened = decrypt(&bytes, &keys, &mut random).map_err(|error| error.to_string())?;
    write_output(call, host, &opened)
}

fn print_headers(host: &OsHost, file: &str) -> Result<(), String> {
    let bytes = read_input(host, file)?;
    let headers = Headers::parse(&bytes).map_err(|error: SecretError| error.to_string())?;
    for (name, value) in &headers.lines {
        say(&format!("{name}: {value}"));
    }
    Ok(())
}
