//! cf-check: looks at, saves and mends the databases of the work directory.

use std::path::{Path, PathBuf};

use fx_cfengine::config::configure;
use fx_formats::lmdb;
use fx_host::{Clock, Edits, Files, OsHost, WriteOptions, limits};

use crate::persona::Invocation;

use super::say;
use super::tools::{self, Call};

pub(crate) fn check(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let host = OsHost::new();
    let workdir = configure(&host, &fx_cfengine::Request::default()).paths.workdir.clone();
    let Some((command, named)) = call.rest.split_first() else {
        call.log.error("No command given. Use 'cf-check help' for help.");
        return 1;
    };
    let files = files(&host, &workdir, named);
    match command.as_str() {
        "help" => {
            say(
                "Usage: cf-check [OPTIONS] COMMAND [ARGUMENTS]\n\nCommands:\n  help, version, dump, lmdump, diagnose, backup, repair",
            );
            0
        }
        "version" => {
            say(crate::version::version("cf-check"));
            0
        }
        "dump" | "lmdump" => dump(&call, &host, &files),
        "diagnose" => diagnose(&host, &files),
        "backup" => u8::from(!backup(&call, &host, &workdir, &files)),
        "repair" => repair(&call, &host, &workdir, &files),
        other => {
            call.log.error(&format!("Unrecognized command: '{other}'"));
            1
        }
    }
}

fn files(host: &OsHost, workdir: &str, named: &[String]) -> Vec<PathBuf> {
    let named: Vec<&String> = named.iter().filter(|name| !name.starts_with('-')).collect();
    if !named.is_empty() {
        return named.into_iter().map(PathBuf::from).collect();
    }
    let state = format!("{workdir}/state");
    let entries = host.list(Path::new(&state)).unwrap_or_default();
    let files = entries.iter().map(|entry| Path::new(&state).join(&entry.name));
    files.filter(|file| file.extension().is_some_and(|ending| ending == "lmdb")).collect()
}

fn contents(host: &OsHost, file: &Path) -> Result<lmdb::Contents, &'static str> {
    let bytes = host.read_limited(file, limits::WHOLE).map_err(|_| "DOES_NOT_EXIST")?;
    lmdb::read(&bytes).map_err(|_| "LMDB_INVALID_DATABASE")
}

// Text in quotes, as the original prints it; bytes that are none are escaped.
fn quoted(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let text: String = bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(*byte)),
            0x20..=0x7e => char::from(*byte).to_string(),
            other => format!("\\x{other:02x}"),
        })
        .collect();
    format!("\"{text}\"")
}

fn dump(call: &Call, host: &OsHost, files: &[PathBuf]) -> u8 {
    let mut code = 0;
    for file in files {
        match contents(host, file) {
            Ok(contents) => {
                say("{");
                for (key, value) in &contents.entries {
                    say(&format!("\t{}: {},", quoted(key), quoted(value)));
                }
                say("}");
            }
            Err(why) => {
                call.log.error(&format!("'{}': {why}", file.display()));
                code = 1;
            }
        }
    }
    code
}

fn diagnose(host: &OsHost, files: &[PathBuf]) -> u8 {
    let mut code = 0;
    for file in files {
        let status = match contents(host, file) {
            Ok(_) => "OK",
            Err(why) => {
                code = 1;
                why
            }
        };
        say(&format!("Status of '{}': {status}", file.display()));
    }
    code
}

fn backup(call: &Call, host: &OsHost, workdir: &str, files: &[PathBuf]) -> bool {
    let now = host.now().secs;
    let (above, dir) = (format!("{workdir}/backups"), format!("{workdir}/backups/{now}"));
    let made = || {
        if !host.exists(Path::new(&above))? {
            host.make_dir(Path::new(&above), 0o700)?;
        }
        host.make_dir(Path::new(&dir), 0o700)?;
        for file in files {
            let name = file.file_name().unwrap_or_default();
            host.copy_file(file, &Path::new(&dir).join(name), &WriteOptions::default())?;
        }
        host.commit()
    };
    match made() {
        Ok(()) => {
            call.log.line(fx_engine::Level::Info, &format!("Backed up to '{dir}/'"));
            true
        }
        Err(error) => {
            call.log.error(&error.to_string());
            false
        }
    }
}

fn repair(call: &Call, host: &OsHost, workdir: &str, files: &[PathBuf]) -> u8 {
    let broken: Vec<PathBuf> =
        files.iter().filter(|file| contents(host, file).is_err()).cloned().collect();
    if broken.is_empty() {
        call.log.line(fx_engine::Level::Info, "No corrupt LMDB files found, nothing to repair");
        return 0;
    }
    if !backup(call, host, workdir, &broken) {
        return 1;
    }
    // What cannot be read is begun anew.
    for file in &broken {
        if let Err(error) = host.remove_file(file) {
            call.log.error(&error.to_string());
            return 1;
        }
        call.log.notice(&format!("Removed corrupt database '{}'", file.display()));
    }
    0
}
