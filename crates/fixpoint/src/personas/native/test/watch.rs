//! `fixpoint test --watch`: what an edit touches is run again. Each run is a process of its own, which leaves
//! behind which files of the project each spec file read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{About, Clock, Edits, Env, Files, Host, Look, OsHost, Time, WriteOptions};
use serde_json::Value;

use super::Args;
use super::options::{below, is_policy};
use crate::{paths, terminal};

/// How long nothing is looked at. Known files are few: a look at them is some milliseconds of work.
const PAUSE: Duration = Duration::from_millis(400);

/// What a file was when it was looked at last; none where it was not there.
type State = Option<(u64, Time)>;

/// What a part of a run looked at, and what it changed itself.
#[derive(Clone, Default)]
pub(super) struct Read {
    looked: BTreeSet<PathBuf>,
    edited: BTreeSet<PathBuf>,
}

impl Read {
    pub(super) fn note(&mut self, path: &Path, about: About) {
        let set = if about == About::Look { &mut self.looked } else { &mut self.edited };
        if !set.contains(path) {
            set.insert(path.to_owned());
        }
    }
}

/// Runs until it is stopped, or until something of ours fails.
pub(super) fn run(host: &OsHost, args: &Args, words: &[OsString]) -> Result<u8, String> {
    let dir = paths::state_dir(host);
    host.make_dir(&dir, 0o700)
        .or_else(|error| host.stat(&dir).map(|_| ()).map_err(|_| error))
        .map_err(|error| error.to_string())?;
    let log = dir.join(format!("reads-{}.json", std::process::id()));
    let mut known: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut states: BTreeMap<PathBuf, State> = BTreeMap::new();
    let mut wanted: Option<BTreeSet<String>> = None;
    loop {
        let argv = command(args, words, &log, wanted.as_ref());
        let began = host.now();
        once(&argv).map_err(|error| format!("the run cannot be started: {error}"))?;
        for (spec, read) in read(host, &log)? {
            known.insert(spec, read);
        }
        for path in known.values().flatten() {
            // One that was edited meanwhile may have been read before that.
            let seen = || state(host, path).filter(|(_, edited)| *edited < began);
            states.entry(path.clone()).or_insert_with(seen);
        }
        if known.is_empty() {
            // Nothing could be loaded: any spec file may have been the cause.
            for spec in specs(host, args) {
                let path = host.cwd().join(&spec);
                states.insert(path.clone(), state(host, &path));
                known.entry(spec).or_default().insert(path);
            }
        }
        terminal::complain("waiting for edits; control and C ends it");
        wanted = Some(edited(host, args, &mut known, &mut states));
    }
}

/// One run, with our own output. What came of it, it has said.
#[allow(clippy::disallowed_methods, reason = "our own program, with our own output")]
fn once(words: &[OsString]) -> std::io::Result<()> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    std::process::Command::new(program).args(words).status().map(|_| ())
}

/// Waits until something was edited; the spec files that have to do with it.
fn edited(
    host: &OsHost,
    args: &Args,
    known: &mut BTreeMap<String, BTreeSet<PathBuf>>,
    states: &mut BTreeMap<PathBuf, State>,
) -> BTreeSet<String> {
    loop {
        host.sleep(PAUSE);
        let mut touched: BTreeSet<PathBuf> = BTreeSet::new();
        for (path, before) in states.iter_mut() {
            let now = state(host, path);
            if now != *before {
                *before = now;
                touched.insert(path.clone());
            }
        }
        let mut wanted: BTreeSet<String> = known
            .iter()
            .filter(|(_, read)| read.iter().any(|path| touched.contains(path)))
            .map(|(spec, _)| spec.clone())
            .collect();
        // Spec files that came, and those that went.
        let there = specs(host, args);
        wanted.extend(there.iter().filter(|spec| !known.contains_key(*spec)).cloned());
        known.retain(|spec, _| there.contains(spec));
        wanted.retain(|spec| there.contains(spec));
        if !wanted.is_empty() {
            return wanted;
        }
    }
}

fn state(host: &dyn Look, path: &Path) -> State {
    host.stat(path).ok().map(|meta| (meta.size, meta.mtime))
}

/// The spec files that the command line means.
fn specs(host: &OsHost, args: &Args) -> BTreeSet<String> {
    let given = if args.paths.is_empty() { vec!["spec".to_owned()] } else { args.paths.clone() };
    let mut files = Vec::new();
    for path in given {
        if host.stat(&host.cwd().join(&path)).is_ok_and(|meta| meta.is_dir()) {
            below(host, Path::new(&path), &mut files);
        } else {
            files.push(path);
        }
    }
    files.retain(|file| !is_policy(file));
    files.into_iter().collect()
}

/// The same command for the files that are wanted, with a log of what is read.
fn command(
    args: &Args,
    words: &[OsString],
    log: &Path,
    wanted: Option<&BTreeSet<String>>,
) -> Vec<OsString> {
    let mut argv: Vec<OsString> = Vec::new();
    let paths = |word: &OsString| args.paths.iter().any(|path| word == path.as_str());
    let own = |word: &&OsString| *word != "--watch" && !(wanted.is_some() && paths(word));
    argv.extend(words.iter().filter(own).cloned());
    argv.extend(["--read-log".into(), log.into()]);
    argv.extend(wanted.into_iter().flatten().map(OsString::from));
    argv
}

/// Writes which files of the project each part's spec files read, for the process that waits.
pub(super) fn write(
    host: &dyn Host,
    log: &Path,
    files: &[Vec<String>],
    reads: &[Read],
) -> Result<(), String> {
    let home = host.cwd();
    let mut found = serde_json::Map::new();
    for (files, reads) in files.iter().zip(reads) {
        let own: BTreeSet<String> = reads
            .looked
            .difference(&reads.edited)
            .filter_map(|path| host.real_path(path).ok())
            .filter(|path| path.starts_with(&home))
            .filter(|path| host.stat(path).is_ok_and(|meta| !meta.is_dir()))
            .map(|path| path.display().to_string())
            .collect();
        for file in files {
            let mut own = own.clone();
            own.insert(home.join(file.split(':').next().unwrap_or_default()).display().to_string());
            found.insert(file.clone(), own.into_iter().collect());
        }
    }
    let text = Value::Object(found).to_string();
    host.write(log, text.as_bytes(), &WriteOptions::default())
        .and_then(|()| host.commit())
        .map_err(|error| error.to_string())
}

fn read(host: &OsHost, log: &Path) -> Result<BTreeMap<String, BTreeSet<PathBuf>>, String> {
    let Some(text) = host.read_opt(log).map_err(|error| error.to_string())? else {
        return Ok(BTreeMap::new());
    };
    let all: BTreeMap<String, BTreeSet<PathBuf>> =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    host.remove_file(log).map_err(|error| error.to_string())?;
    Ok(all)
}
