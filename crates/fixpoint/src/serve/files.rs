//! Files that agents fetch: of modules, and plug-ins that all modules have together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fx_crypto::digest::Algorithm;
use fx_host::{Clock, Env, Files, Kind, Meta, OsHost};
use fx_server::{Content, FileWish, Refusal, Tree};
use fx_wire::puppet::{Checksum, FileKind, Metadata};
use regex::Regex;

use super::conf::Mounts;
use super::digests::Digests;
use super::environments::Snapshot;

/// Mode that clients see who do not take ours.
const PLAIN_MODE: u32 = 0o644;

/// Folders of modules by mount; a merged one is a tree of all modules together.
fn folder(mount: &str) -> Option<(&'static str, bool)> {
    Some(match mount {
        "modules" => ("files", false),
        "tasks" => ("tasks", false),
        "scripts" => ("scripts", false),
        "plugins" => ("lib", true),
        "pluginfacts" => ("facts.d", true),
        "locales" => ("locales", true),
        _ => return None,
    })
}

/// Whether modules have files for a mount.
pub(crate) fn is_of_modules(mount: &str) -> bool {
    folder(mount).is_some()
}

/// Whether a mount is one tree of all modules, the same for every client.
pub(crate) fn is_of_all_modules(mount: &str) -> bool {
    folder(mount).is_some_and(|(_, is_merged)| is_merged)
}

/// The code that is served from, and the site's own directories.
pub(crate) struct Served<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) mounts: &'a Mounts,
    pub(crate) digests: &'a Digests,
}

/// Paths that a wish may mean, the first one counts.
fn places(host: &OsHost, served: &Served<'_>, wish: &FileWish) -> Vec<PathBuf> {
    let (snapshot, path) = (served.snapshot, wish.path.as_slice());
    let Some((folder, is_merged)) = folder(&wish.mount) else {
        let dir = served.mounts.get(&wish.mount).and_then(|mount| mount.dir(&wish.client));
        let place = dir.map(|dir| if path.is_empty() { dir } else { dir.join(path.join("/")) });
        return place.filter(|place| host.lstat(place).is_ok()).into_iter().collect();
    };
    if is_merged {
        let roots = snapshot.modules.iter().filter_map(|module| module.folder(host, folder));
        let below = path.join("/");
        return roots
            .map(|root| if below.is_empty() { root } else { root.join(&below) })
            .filter(|place| host.lstat(place).is_ok())
            .collect();
    }
    let [module, rest @ ..] = path else { return Vec::new() };
    let module = snapshot.module(module).and_then(|module| module.folder(host, folder));
    let place = module.map(|dir| if rest.is_empty() { dir } else { dir.join(rest.join("/")) });
    place.filter(|place| host.lstat(place).is_ok()).into_iter().collect()
}

fn not_found(what: &str, wish: &FileWish) -> Refusal {
    let path = wish.path.iter().fold(wish.mount.clone(), |all, part| format!("{all}/{part}"));
    Refusal::NotFound(format!("Could not find {what} {path}"))
}

pub(crate) fn metadata(
    host: &OsHost,
    served: &Served<'_>,
    wish: &FileWish,
) -> Result<Metadata, Refusal> {
    let place = places(host, served, wish).into_iter().next();
    let place = place.ok_or_else(|| not_found("file_metadata", wish))?;
    describe(host, served, wish, (&place, &place), None)
}

/// The tree below a path, or below the same path of several modules; its root is `.`.
pub(crate) fn metadatas(
    host: &OsHost,
    served: &Served<'_>,
    wish: &FileWish,
    tree: &Tree,
) -> Result<Vec<Metadata>, Refusal> {
    let snapshot = served.snapshot;
    let mut roots = places(host, served, wish);
    let mut tree = tree.clone();
    if roots.is_empty() && is_of_all_modules(&wish.mount) && wish.path.is_empty() {
        // An empty list would have agents remove what they have; this is an empty tree.
        let dirs = snapshot.modulepath.iter().chain(&snapshot.dir);
        roots = dirs.filter(|dir| host.stat(dir).is_ok()).take(1).cloned().collect();
        tree.recurses = false;
    }
    if roots.is_empty() {
        return Err(not_found("file_metadatas", wish));
    }
    let ignored: Vec<Regex> = tree
        .ignore
        .iter()
        .filter_map(|pattern| {
            Regex::new(&format!("^(?:{})$", fx_formats::glob::regex(pattern, false))).ok()
        })
        .collect();
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for root in &roots {
        let mut level = vec![String::from(".")];
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for name in &level {
                if names.insert(name.clone()) {
                    let place = if name == "." { root.clone() } else { root.join(name) };
                    found.push(describe(host, served, wish, (root, &place), Some(name.clone()))?);
                }
                let is_deep = tree.depth.is_some_and(|most| depth >= most);
                if tree.recurses && !is_deep {
                    next.extend(children(host, wish, root, name, &ignored)?);
                }
            }
            level = next;
            depth += 1;
        }
    }
    Ok(found)
}

fn children(
    host: &OsHost,
    wish: &FileWish,
    root: &Path,
    name: &str,
    ignored: &[Regex],
) -> Result<Vec<String>, Refusal> {
    let place = if name == "." { root.to_path_buf() } else { root.join(name) };
    let meta =
        if wish.follows_links || name == "." { host.stat(&place) } else { host.lstat(&place) };
    if !meta.is_ok_and(|meta| meta.is_dir()) {
        return Ok(Vec::new());
    }
    // A part of a tree is never answered: agents remove what the list does not have.
    let entries = host.list(&place).map_err(|error| Refusal::Failed(error.to_string()))?;
    let names = entries.iter().filter_map(|entry| entry.name.to_str());
    let names = names.filter(|child| !ignored.iter().any(|pattern| pattern.is_match(child)));
    let below = |child: &str| match name {
        "." => child.to_owned(),
        name => format!("{name}/{child}"),
    };
    Ok(names.map(below).collect())
}

fn describe(
    host: &OsHost,
    served: &Served<'_>,
    wish: &FileWish,
    (root, place): (&Path, &Path),
    relative_path: Option<String>,
) -> Result<Metadata, Refusal> {
    let failed = |error: fx_host::HostError| Refusal::Failed(error.to_string());
    let meta = if wish.follows_links { host.stat(place) } else { host.lstat(place) };
    let meta = meta.map_err(failed)?;
    let kind = match meta.kind {
        Kind::Directory => FileKind::Directory,
        Kind::Symlink => {
            let to = host.read_link(place).map_err(failed)?;
            FileKind::Link(to.to_string_lossy().into_owned())
        }
        _ => FileKind::File,
    };
    let (owner, group, mode) = if wish.with_permissions {
        (meta.uid, meta.gid, meta.mode & 0o7777)
    } else {
        (host.euid(), host.egid(), PLAIN_MODE)
    };
    Ok(Metadata {
        path: root.to_string_lossy().into_owned(),
        relative_path,
        links: if wish.follows_links { "follow" } else { "manage" }.into(),
        owner,
        group,
        mode,
        checksum: checksum(host, served, wish, place, &meta)?,
        kind,
    })
}

fn checksum(
    host: &OsHost,
    served: &Served<'_>,
    wish: &FileWish,
    place: &Path,
    meta: &Meta,
) -> Result<Checksum, Refusal> {
    let time = |time: fx_host::Time| {
        let time = jiff::Timestamp::from_second(time.secs).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        time.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S +0000").to_string()
    };
    let of = |kind: &str, value: String| Ok(Checksum { kind: kind.into(), value });
    if meta.is_dir() {
        return of("ctime", time(meta.ctime));
    }
    match wish.checksum.as_str() {
        "none" => of("none", String::new()),
        "mtime" => of("mtime", time(meta.mtime)),
        "ctime" => of("ctime", time(meta.ctime)),
        name => {
            let algorithm = Algorithm::named(name)
                .ok_or_else(|| Refusal::Failed(format!("Invalid checksum type '{name}'")))?;
            let take = || match host.open(place) {
                Ok(mut content) => algorithm
                    .hex_of(&mut content)
                    .map_err(|error| Refusal::Failed(error.to_string())),
                // A link that leads nowhere has no content.
                Err(_) if meta.is_symlink() => Ok(String::new()),
                Err(error) => Err(Refusal::Failed(error.to_string())),
            };
            // What a link leads to changes without the link.
            let digest = if meta.is_file() {
                served.digests.get((name, place, meta, host.now()), take)?
            } else {
                take()?
            };
            of(name, digest)
        }
    }
}

/// The content of a file; nothing of a directory.
pub(crate) fn content(
    host: &OsHost,
    served: &Served<'_>,
    wish: &FileWish,
) -> Result<Content, Refusal> {
    let missing = || not_found("file_content", wish);
    let place = places(host, served, wish).into_iter().next().ok_or_else(missing)?;
    open(&place).map_err(|error| {
        if error.is_not_found() { missing() } else { Refusal::Failed(error.to_string()) }
    })
}

/// A file, to be read while it is sent. Links are resolved once, before it is opened.
pub(super) fn open(place: &Path) -> Result<Content, fx_host::HostError> {
    let (file, meta) = fx_host::open_served(&fx_host::resolve_served(place)?)?;
    match meta.kind {
        Kind::Directory => Ok(Content::bytes(Vec::new())),
        // Devices and pipes have no length that could be promised.
        _ => Ok(Content {
            length: if meta.is_file() { meta.size } else { 0 },
            reader: Box::new(file),
        }),
    }
}
