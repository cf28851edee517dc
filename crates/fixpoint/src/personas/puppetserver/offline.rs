//! Actions on the files of an authority that does not run.

use fx_host::{Edits, Files};
use fx_wire::x509::{Authority, Certificate, Key, Revocations};

use super::{Options, errors, errors_with_usage, inform};
use crate::personas::puppet::settings::Settings;
use crate::serve::{self, Paths};

/// What stands in the way of a new authority.
fn existing(options: &Options, paths: &Paths, certname: &str) -> Option<Vec<String>> {
    let beside = |name: &str| paths.dir.join(name);
    let files = [
        paths.chain.clone(),
        paths.list.clone(),
        beside("infra_crl.pem"),
        paths.host_certificate.clone(),
        paths.local_chain.clone(),
        paths.local_list.clone(),
        paths.public.clone(),
        paths.inventory.clone(),
        beside("infra_inventory.txt"),
        beside("infra_serials"),
        paths.serial.clone(),
        paths.signed.join(format!("{certname}.pem")),
        beside("root_key.pem"),
        paths.key.clone(),
    ];
    let there = files.iter().filter(|path| serve::exists(&options.host, path));
    let mut lines: Vec<String> =
        there.map(|path| format!("Existing file at '{}'", path.display())).collect();
    if lines.is_empty() {
        return None;
    }
    lines.push("If you would really like to replace your CA, please delete the existing files first.\nNote that any certificates that were issued by this CA will become invalid if you\nreplace it!".into());
    Some(lines)
}

fn finish(options: &Options, made: Result<(), String>, done: &str, paths: &Paths) -> u8 {
    let made = made.and_then(|()| options.host.commit().map_err(|error| error.to_string()));
    match made {
        Ok(()) => {
            inform(&format!("{done} succeeded. Find your files in {}", paths.dir.display()));
            0
        }
        Err(error) => errors(&[error]),
    }
}

pub(super) fn setup(options: &Options) -> u8 {
    let settings = match options.settings() {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let certname = settings.get("certname");
    let paths = Paths::of(&settings, &certname);
    if let Some(lines) = existing(options, &paths, &certname) {
        return errors(&lines);
    }
    let made = serve::create(&options.host, &settings, &certname)
        .and_then(|()| first_certificate(options, &settings, &certname, &paths));
    finish(options, made, "Generation", &paths)
}

pub(super) fn import(options: &Options) -> u8 {
    let needed = [
        ("cert-bundle", "Must provide a --cert-bundle PATH"),
        ("private-key", "Must provide a --private-key PATH"),
        ("crl-chain", "Must provide a --crl-chain PATH"),
    ];
    let missing = needed.iter().filter(|(name, _)| !options.has(name));
    let missing: Vec<String> = missing.map(|(_, text)| format!("    {text}")).collect();
    if !missing.is_empty() {
        let first = "    Missing required argument".to_owned();
        return errors_with_usage(&[vec![first], missing].concat(), options.action);
    }
    let settings = match options.settings() {
        Ok(settings) => settings,
        Err(code) => return code,
    };
    let certname = settings.get("certname");
    let paths = Paths::of(&settings, &certname);
    if let Some(lines) = existing(options, &paths, &certname) {
        return errors(&lines);
    }
    let made = take(options, &paths)
        .and_then(|()| first_certificate(options, &settings, &certname, &paths));
    finish(options, made, "Import", &paths)
}

/// Checks that key, certificates and lists belong together, and writes them.
fn take(options: &Options, paths: &Paths) -> Result<(), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let read = |name: &str| {
        let path = options.get(name).unwrap_or_default();
        let bytes = options.host.read(path.as_ref()).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| format!("'{path}' is not text"))
    };
    let chain = Certificate::bundle(&read("cert-bundle")?).map_err(shown)?;
    let first = chain.first().cloned().ok_or("the bundle has no certificate")?;
    let key = Key::from_pem(&read("private-key")?).map_err(shown)?;
    let authority = Authority::new(key, first).map_err(shown)?;
    for pair in chain.windows(2) {
        if pair[1].has_signed(&pair[0]) != Ok(true) {
            return Err(
                "the bundle is not in order: each certificate must be signed by the next".into()
            );
        }
    }
    let lists = Revocations::bundle(&read("crl-chain")?).map_err(shown)?;
    for one in &chain {
        if !lists.iter().any(|list| list.is_signed_by(one) == Ok(true)) {
            let name = one.name().unwrap_or_default();
            return Err(format!("the chain of lists has none of '{name}'"));
        }
    }
    let chain: String = chain.iter().map(Certificate::to_pem).collect();
    let lists: String = lists.iter().map(Revocations::to_pem).collect();
    serve::write_authority(&options.host, paths, &authority, &chain, &lists)
}

/// The server's certificate, the first that the authority signs.
fn first_certificate(
    options: &Options,
    settings: &Settings,
    certname: &str,
    paths: &Paths,
) -> Result<(), String> {
    let shown = |error: fx_wire::x509::Error| error.to_string();
    let host = &options.host;
    let read = |path: &std::path::Path| {
        let bytes = host.read(path).map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (chain, lists) = (read(&paths.chain)?, read(&paths.list)?);
    let first = Certificate::from_pem(&chain).map_err(shown)?;
    let authority =
        Authority::new(Key::from_pem(&read(&paths.key)?).map_err(shown)?, first).map_err(shown)?;
    // A machine that was an agent before has a key.
    let key = if serve::exists(host, &paths.host_key) {
        Key::from_pem(&read(&paths.host_key)?).map_err(shown)?
    } else {
        serve::new_key(host, settings)?
    };
    let certificate = serve::server_certificate(host, settings, certname, &authority, &key, 1)?;
    let text = certificate.to_pem();
    serve::put(host, &paths.host_key, &key.to_pem().map_err(shown)?, 0o640)?;
    serve::put(host, &paths.host_public, &key.public().to_pem().map_err(shown)?, 0o644)?;
    serve::put(host, &paths.host_certificate, &text, 0o644)?;
    serve::put(host, &paths.signed.join(format!("{certname}.pem")), &text, 0o644)?;
    serve::put(host, &paths.local_chain, &chain, 0o644)?;
    serve::put(host, &paths.local_list, &lists, 0o644)?;
    let time = |seconds: u64| {
        let time = i64::try_from(seconds).ok().and_then(|at| jiff::Timestamp::from_second(at).ok());
        let time = time.unwrap_or(jiff::Timestamp::MAX).to_zoned(jiff::tz::TimeZone::UTC);
        time.strftime("%Y-%m-%dT%H:%M:%SUTC").to_string()
    };
    let (from, until) = certificate.validity();
    let line = format!("0x0001 {} {} /CN={certname}\n", time(from), time(until));
    serve::put(host, &paths.inventory, &line, 0o644)?;
    serve::put(host, &paths.serial, "002\n", 0o644)
}
