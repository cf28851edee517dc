//! What becomes of the old content of files: a copy beside them, or one in a filebucket.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Change, Failure, Level, Resource as Thing, ResourceId, Run, Target};
use fx_host::{Act, Look};
use fx_puppet::settings::{self, Given};
use fx_puppet::text::interpolated;
use fx_puppet::{Backup, Catalog, Compiled, Resource, ServerBucket, Value};
use fx_resources::digest::Algorithm;

use super::attributes::{attribute, text, truth};
use super::wording::{Message, words};
use crate::bucket::Bucket;

/// Where the old content of a file is kept.
pub(super) enum Keep {
    /// Beside the file, under its name and a suffix.
    Suffix(String),
    /// Into a bucket, by the name it has in messages.
    Bucket(String, Place),
}

/// Where a bucket is.
pub(super) enum Place {
    Here(Bucket),
    /// On the server that the catalog came from, if it came from one.
    Server(Option<Rc<dyn ServerBucket>>, Algorithm),
}

impl Place {
    /// Keeps the content of a file.
    fn keep(&self, host: &dyn Act, path: &Path, size: u64) -> Result<crate::bucket::Kept, String> {
        let (server, algorithm) = match self {
            Place::Here(bucket) => return bucket.keep(host, path, path),
            Place::Server(None, _) => {
                return Err(
                    "the filebucket is on a server, which `puppet agent` alone reaches".into()
                );
            }
            Place::Server(Some(server), algorithm) => (server, *algorithm),
        };
        let told = |error: fx_host::HostError| error.to_string();
        let sum = fx_resources::digest::hex_of_file(algorithm, host, path).map_err(told)?;
        let mut content = host.open(path).map_err(told)?;
        server.keep(algorithm.name(), &sum, path, size, &mut content)?;
        // What a server has already is not told.
        Ok(crate::bucket::Kept { sum, was_known: false })
    }

    fn algorithm(&self) -> Algorithm {
        match self {
            Place::Here(bucket) => bucket.algorithm,
            Place::Server(_, algorithm) => *algorithm,
        }
    }
}

/// The digest that settings choose.
pub(super) fn algorithm(given: &Given) -> Algorithm {
    settings::text(given, "digest_algorithm")
        .and_then(|name| Algorithm::named(&name))
        .unwrap_or_default()
}

/// Where the bucket of this machine is.
fn own_dir(given: &Given) -> PathBuf {
    settings::text(given, "clientbucketdir").unwrap_or_default().into()
}

/// The bucket for files that code of modules changes, where state is kept at all.
pub(super) fn for_modules(given: &Given) -> Option<Rc<dyn Backup>> {
    if !["vardir", "clientbucketdir"].iter().any(|name| given.contains_key(*name)) {
        return None;
    }
    Some(Rc::new(Bucket { dir: own_dir(given), algorithm: algorithm(given) }))
}

impl Backup for Bucket {
    fn keep(&self, run: Run<'_>, path: &Path, log: &dyn Fn(String)) -> Result<(), String> {
        log(words(&Message::Checksumming(path.display().to_string())));
        let kept = run.own_state(|act| Bucket::keep(self, act, path, path))?;
        if kept.was_known {
            let (algorithm, sum) = (self.algorithm.name(), kept.sum);
            log(words(&Message::DuplicateInBucket { algorithm, sum }));
        }
        Ok(())
    }
}

/// What is wrong with a filebucket.
pub(super) fn check_bucket(resource: &Resource) -> Result<(), String> {
    let why = match attribute(resource, "path") {
        Some(Value::Array(_)) => "You can only have one filebucket path",
        Some(Value::String(path)) if &*path != "false" && !path.starts_with('/') => {
            "Filebucket paths must be absolute"
        }
        _ => return Ok(()),
    };
    Err(format!("Parameter path failed on {}: {why}", resource.reference()))
}

/// Where the old content of a file is kept; what is wrong otherwise.
pub(super) fn of(
    compiled: &Compiled,
    catalog: &Catalog,
    resource: &Resource,
) -> Result<Option<Keep>, String> {
    if &*resource.low != "file" {
        return Ok(None);
    }
    let name = match attribute(resource, "backup") {
        None | Some(Value::Bool(false)) => return Ok(None),
        Some(Value::Bool(true)) => return Ok(Some(Keep::Suffix(".puppet-bak".into()))),
        Some(other) => interpolated(&other),
    };
    match name.as_str() {
        "false" | "" => return Ok(None),
        "true" => return Ok(Some(Keep::Suffix(".puppet-bak".into()))),
        suffix if suffix.starts_with('.') => return Ok(Some(Keep::Suffix(name))),
        _ => {}
    }
    let given = &compiled.settings().given;
    let dir = match catalog.find("filebucket", &name).map(|at| &catalog.resources[at]) {
        Some(bucket) => match attribute(bucket, "path") {
            Some(Value::Bool(false)) => None,
            Some(path) => Some(interpolated(&path)).filter(|path| path != "false").map(Into::into),
            None if text(bucket, "server").is_some() => None,
            None => Some(own_dir(given)),
        },
        None if name == "puppet" => Some(own_dir(given)),
        None => return Err(format!("Could not find filebucket {name} specified in backup")),
    };
    let algorithm = algorithm(given);
    let place = match dir {
        Some(dir) => Place::Here(Bucket { dir, algorithm }),
        None => Place::Server(compiled.settings().server_bucket.clone(), algorithm),
    };
    Ok(Some(Keep::Bucket(name, place)))
}

/// A file whose old content is kept before it is changed.
pub(super) struct Kept<'a> {
    pub(super) inner: &'a mut dyn Thing,
    pub(super) keep: &'a Keep,
    pub(super) path: PathBuf,
    /// Whether the files of a directory come one by one.
    pub(super) recurses: bool,
    /// What is to be logged: level, whether it is about the resource, and what.
    pub(super) said: Vec<(Level, bool, Message)>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(inner: &'a mut dyn Thing, keep: &'a Keep, resource: &Resource) -> Kept<'a> {
        let recurses = match attribute(resource, "recurse") {
            Some(Value::String(word)) => matches!(&*word, "true" | "inf" | "remote"),
            other => truth(other),
        };
        Kept { inner, keep, path: super::files::path_of(resource), recurses, said: Vec::new() }
    }

    fn keep(&mut self, host: &dyn Act) -> Result<(), String> {
        let Ok(meta) = host.lstat(&self.path) else { return Ok(()) };
        let path = self.path.clone();
        match self.keep {
            // Files that are kept beside themselves are copied where they are written.
            Keep::Suffix(suffix) if meta.is_dir() && !self.recurses => {
                let to = PathBuf::from(format!("{}{suffix}", path.display()));
                let cleared = match host.lstat(&to) {
                    Ok(old) if old.is_dir() => fx_resources::directory::remove_tree(host, &to),
                    Ok(_) => host.remove_file(&to).map_err(Failure::from),
                    Err(_) => Ok(()),
                };
                cleared
                    .and_then(|()| copy_tree(host, &path, &to, 0))
                    .map_err(|failure| failure.to_string())
            }
            Keep::Suffix(_) => Ok(()),
            Keep::Bucket(name, bucket) if meta.is_file() => self.one(host, name, bucket, &path),
            Keep::Bucket(name, bucket) if meta.is_dir() && !self.recurses => {
                self.said.push((Level::Info, true, Message::BackingUpTree));
                for file in files_below(host, &path) {
                    self.one(host, name, bucket, &file)?;
                }
                Ok(())
            }
            Keep::Bucket(..) => Ok(()),
        }
    }

    fn one(
        &mut self,
        host: &dyn Act,
        name: &str,
        bucket: &Place,
        path: &Path,
    ) -> Result<(), String> {
        let shown = fx_source::visible_path(path.as_os_str().as_encoded_bytes());
        let size = host.stat(path).map_err(|error| error.to_string())?.size;
        if size > fx_host::limits::DIGEST {
            // A user's sparse file must not hold up the run that replaces it.
            let (path, bucket) = (shown.into_owned(), name.to_owned());
            let message = Message::TooLargeForBucket { path, bucket, size };
            self.said.push((Level::Warning, true, message));
            return Ok(());
        }
        let path_shown = shown.clone().into_owned();
        self.said.push((Level::Info, false, Message::Checksumming(path_shown.clone())));
        let kept = bucket
            .keep(host, path, size)
            .map_err(|why| format!("Could not back up {shown}: {why}"))?;
        if kept.was_known {
            let (algorithm, sum) = (bucket.algorithm().name(), kept.sum.clone());
            self.said.push((Level::Info, false, Message::DuplicateInBucket { algorithm, sum }));
        }
        let (path, bucket, sum) = (path_shown, name.to_owned(), kept.sum);
        self.said.push((Level::Info, true, Message::Filebucketed { path, bucket, sum }));
        Ok(())
    }
}

/// Files below a directory, parents before what is in them, in the order of names.
fn files_below(host: &dyn Act, top: &Path) -> Vec<PathBuf> {
    let (mut out, mut left) = (Vec::new(), vec![(top.to_path_buf(), 0)]);
    while let Some((dir, depth)) = left.pop() {
        for item in host.list(&dir).unwrap_or_default() {
            let path = dir.join(&item.name);
            match host.lstat(&path) {
                Ok(meta) if meta.is_dir() && depth < 200 => left.push((path, depth + 1)),
                Ok(meta) if meta.is_file() => out.push(path),
                _ => {}
            }
        }
    }
    out.sort();
    out
}

/// Copies a directory and everything in it, with modes, owners and times.
fn copy_tree(host: &dyn Act, from: &Path, to: &Path, depth: u32) -> Result<(), Failure> {
    if depth > 200 {
        return Err(Failure::new(format!("{} is nested too deep", from.display())));
    }
    let meta = host.lstat(from)?;
    match meta.kind {
        fx_host::Kind::Directory => {
            host.make_dir(to, meta.mode & 0o7777)?;
            for item in host.list(from)? {
                copy_tree(host, &from.join(&item.name), &to.join(&item.name), depth + 1)?;
            }
            host.set_owner(to, Some(meta.uid), Some(meta.gid))?;
            host.set_times(to, None, Some(meta.mtime))?;
        }
        fx_host::Kind::Symlink => host.symlink(&host.read_link(from)?, to)?,
        fx_host::Kind::File => {
            let options = fx_host::WriteOptions {
                mode: Some(meta.mode & 0o7777),
                uid: Some(meta.uid),
                gid: Some(meta.gid),
                mtime: Some(meta.mtime),
            };
            host.copy_file(from, to, &options)?;
        }
        _ => {}
    }
    Ok(())
}

impl Thing for Kept<'_> {
    fn id(&self) -> ResourceId {
        self.inner.id()
    }

    fn target(&self) -> Target {
        self.inner.target()
    }

    fn ask_guards(&mut self, act: &dyn Act) -> Result<(), Failure> {
        self.inner.ask_guards(act)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.inner.observe(host)
    }

    fn open_ended(&self) -> bool {
        self.inner.open_ended()
    }

    fn installs(&self) -> bool {
        self.inner.installs()
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        if changes.iter().any(|change| matches!(&*change.property, "ensure" | "content")) {
            self.keep(host).map_err(Failure::new)?;
        }
        self.inner.apply(host, changes)
    }
}
