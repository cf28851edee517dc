//! Code from a directory, an archive or a git repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Commands, Env, Files, OsHost, Spec};

use super::{copy, shown};

/// Where code comes from.
pub(super) struct Source<'a> {
    pub(super) place: &'a str,
    /// Of a git repository.
    pub(super) reference: &'a str,
}

/// Longer than any repository takes.
const PATIENCE: Duration = Duration::from_mins(30);

/// Runs a program; what it printed, or what it complained about.
pub(super) fn run(host: &OsHost, argv: &[OsString]) -> Result<String, String> {
    let spec = Spec::argv(argv.iter().cloned()).timeout(PATIENCE);
    // Nobody is there to type a password.
    let spec = spec.env("GIT_TERMINAL_PROMPT", "0");
    let name = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ended = host.run(&spec).map_err(|error| format!("cannot run '{name}': {error}"))?;
    if !ended.exit.success() {
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        return Err(format!("'{name}' ended with {}: {said}", ended.exit.code()));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
}

fn words(words: &[&str], paths: &[&Path]) -> Vec<OsString> {
    let words = words.iter().map(OsString::from);
    words.chain(paths.iter().map(|path| path.as_os_str().to_owned())).collect()
}

impl Source<'_> {
    /// Puts the code into a directory that is not there yet; the commit where it has one.
    pub(super) fn bring(
        &self,
        host: &OsHost,
        scratch: &Path,
        to: &Path,
    ) -> Result<Option<String>, String> {
        let place = self.place.strip_prefix("file://").unwrap_or(self.place);
        let path = host.cwd().join(place);
        match host.stat_opt(&path).map_err(shown)? {
            Some(meta) if meta.is_file() => unpack(host, &path, to).map(|()| None),
            Some(_) if !is_repository(host, &path) => {
                host.check_trusted(&path).map_err(shown)?;
                copy::tree(host, &path, to).map(|()| None)
            }
            Some(_) => self.check_out(host, path.as_os_str().to_owned(), scratch, to).map(Some),
            None if self.place.contains("://") || self.place.contains('@') => {
                self.check_out(host, self.place.into(), scratch, to).map(Some)
            }
            None => Err(format!("there is no '{}'", path.display())),
        }
    }

    /// A fresh clone has nothing in it that was not committed.
    fn check_out(
        &self,
        host: &OsHost,
        from: OsString,
        scratch: &Path,
        to: &Path,
    ) -> Result<String, String> {
        if self.reference.starts_with('-') {
            return Err(format!("'{}' is no name of a commit", self.reference));
        }
        let mut noise = [0; 8];
        host.random(&mut noise);
        let clone: PathBuf = scratch.join(format!("clone-{}", fx_formats::hex(noise)));
        let mut argv = words(&["git", "clone", "--quiet", "--no-checkout", "--"], &[]);
        argv.extend([from, clone.clone().into_os_string()]);
        run(host, &argv)?;
        let git = |rest: &[&str]| {
            let mut argv = words(&["git", "-C"], &[&clone]);
            argv.extend(words(rest, &[]));
            run(host, &argv)
        };
        let wanted = format!("{}^{{commit}}", self.reference);
        let remote = format!("origin/{wanted}");
        // A branch of the repository, else whatever else has the name.
        let commit = git(&["rev-parse", "--verify", "--quiet", &remote])
            .or_else(|_| git(&["rev-parse", "--verify", "--quiet", &wanted]))
            .map_err(|_| format!("'{}' has no '{}'", self.place, self.reference))?;
        git(&["checkout", "--quiet", "--detach", &commit])?;
        copy::tree(host, &clone, to)?;
        fx_resources::directory::remove_tree(host, &clone)
            .map_err(|failure| failure.to_string())?;
        Ok(commit)
    }
}

fn is_repository(host: &OsHost, path: &Path) -> bool {
    let has = |name: &str| host.lstat(&path.join(name)).is_ok();
    has(".git") || (has("HEAD") && has("objects") && has("refs"))
}

fn unpack(host: &OsHost, archive: &Path, to: &Path) -> Result<(), String> {
    host.check_trusted(archive).map_err(shown)?;
    fx_host::Edits::make_dir(host, to, 0o700).map_err(shown)?;
    let mut argv = words(&["tar", "-xozf"], &[archive]);
    argv.extend(words(&["--strip-components=1", "-C"], &[to]));
    run(host, &argv).map(drop)
}
