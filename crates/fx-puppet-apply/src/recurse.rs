//! Files that a directory brings with it: from its source, from what lies in it, and those
//! to purge.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use fx_host::{Kind, Look};
use fx_puppet::text::interpolated;
use fx_puppet::{Catalog, Compiled, Resource, Served, ServedKind, TreeWish, Value};
use rustc_hash::FxHashSet;

use super::attributes::{attribute, list, text, truth};

/// Parameters that children have from the directory.
const INHERITED: [&str; 15] = [
    "mode",
    "owner",
    "group",
    "backup",
    "force",
    "links",
    "replace",
    "show_diff",
    "checksum",
    "noop",
    "loglevel",
    "validate_cmd",
    "source_permissions",
    "selinux_ignore_defaults",
    "tag",
];

/// How many levels; `None` for none at all.
fn depth(resource: &Resource) -> Option<u32> {
    let limit = text(resource, "recurselimit").and_then(|limit| limit.parse().ok());
    match attribute(resource, "recurse") {
        Some(Value::Bool(true)) => Some(limit.unwrap_or(u32::MAX)),
        Some(value) => match interpolated(&value).as_str() {
            "true" | "inf" | "remote" => Some(limit.unwrap_or(u32::MAX)),
            _ => None,
        },
        None => None,
    }
}

/// Why a directory cannot be taken as a whole, if so: `max_files` says how much is too much,
/// and a web server has no directories.
pub(super) fn too_many(compiled: &Compiled, resource: &Resource) -> Option<String> {
    if &*resource.low == "file"
        && depth(resource).is_some()
        && list(resource, "source").iter().any(|name| super::sourced::is_web(&interpolated(name)))
    {
        return Some("cannot lookup multiple files".to_owned());
    }
    let most: usize = text(resource, "max_files")?.parse().ok()?;
    let limit = depth(resource)?;
    if most == 0 || !matches!(&*resource.low, "file" | "tidy") {
        return None;
    }
    let top = super::files::path_of(resource);
    let count = below(compiled.run().look(), &top, limit, &|_| false, None).len();
    (count > most).then(|| {
        format!(
            "The directory '{}' contains {count} entries, which exceeds the limit of {most} \
             specified by the max_files parameter for this resource. The limit may be increased, \
             but be aware that large number of file resources can result in excessive resource \
             consumption and degraded performance. Consider using an alternate method to manage \
             large directory trees",
            top.display()
        )
    })
}

/// Files that come with a directory, in the order of their paths. Each becomes a resource when
/// it has its turn and not before: there may be very many.
pub(super) struct Tree {
    top: PathBuf,
    /// What all of them have in common.
    pattern: Resource,
    sources: Vec<TreeSource>,
    follows: bool,
    purge: bool,
    found: Vec<Found>,
}

/// Where a directory is copied from.
enum TreeSource {
    Local(PathBuf),
    /// A directory of a Puppet server.
    Served(String),
}

/// A path below the directory.
struct Found {
    rest: Box<Path>,
    kind: Option<Kind>,
    /// What a link of a server points to.
    target: Option<Box<str>>,
    /// The source it is from, by number.
    source: Option<usize>,
}

/// What there is below a directory that a resource takes as a whole; nothing where it does not.
/// `managed` are the paths of all files of the catalog.
pub(super) fn tree(
    compiled: &Compiled,
    managed: &BTreeSet<PathBuf>,
    resource: &Resource,
) -> Result<Option<Tree>, String> {
    let Some(limit) = depth(resource).filter(|_| &*resource.low == "file") else {
        return Ok(None);
    };
    let host = compiled.run().look();
    let top = super::files::path_of(resource);
    let ignored: Vec<fx_puppet::Regex> = list(resource, "ignore")
        .iter()
        .map(|name| fx_puppet::glob_regex(&interpolated(name)))
        .collect();
    let is_ignored = |name: &str| ignored.iter().any(|regex| regex.is_match(name).unwrap_or(false));
    let all = text(resource, "sourceselect").as_deref() == Some("all");
    let mut sources = Vec::new();
    let mut found = Vec::new();
    for source in list(resource, "source") {
        let name = interpolated(&source);
        let number = Some(sources.len());
        let (source, inside) = match &compiled.settings().file_server {
            Some(server) if super::files::is_served(&name) => {
                let wish = TreeWish {
                    levels: (limit != u32::MAX).then_some(limit),
                    ignored: list(resource, "ignore").iter().map(interpolated).collect(),
                    follows: text(resource, "links").as_deref() == Some("follow"),
                };
                let Some(listed) = server.tree(&name, &wish)? else { continue };
                (TreeSource::Served(name), served(listed, number))
            }
            _ => {
                let Some(source) = super::files::local_source(compiled, &name) else { continue };
                if !host.stat(&source).is_ok_and(|meta| meta.is_dir()) {
                    continue;
                }
                let inside = below(host, &source, limit, &is_ignored, number);
                (TreeSource::Local(source), inside)
            }
        };
        found = merged(found, inside);
        sources.push(source);
        if !all {
            break;
        }
    }
    let is_remote = text(resource, "recurse").as_deref() == Some("remote");
    if !is_remote {
        found = merged(found, below(host, &top, limit, &is_ignored, None));
    }
    // What another resource manages below is its own, with all that is in it.
    let others: FxHashSet<&Path> = managed
        .range::<Path, _>((Bound::Excluded(&*top), Bound::Unbounded))
        .map_while(|path| path.strip_prefix(&top).ok())
        .collect();
    if !others.is_empty() {
        found.retain(|one| !one.rest.ancestors().any(|path| others.contains(path)));
    }
    let mut pattern = Resource::beside(resource, "file", "");
    for name in INHERITED {
        if let Some(given) = resource.attributes.get(name) {
            pattern.attributes.insert(name.into(), given.clone());
        }
    }
    pattern.tags.clone_from(&resource.tags);
    Ok(Some(Tree {
        top,
        pattern,
        sources,
        follows: text(resource, "links").as_deref() == Some("follow"),
        purge: truth(attribute(resource, "purge")),
        found,
    }))
}

/// What a server lists, as paths below the directory.
fn served(listed: Vec<Served>, source: Option<usize>) -> Vec<Found> {
    let one = |served: Served| {
        let (kind, target) = match served.kind {
            ServedKind::File => (Kind::File, None),
            ServedKind::Directory => (Kind::Directory, None),
            ServedKind::Link(to) => (Kind::Symlink, Some(to.into())),
        };
        let rest = PathBuf::from(served.path).into_boxed_path();
        // A path that leaves the directory is no path below it.
        let is_inside = rest.components().all(|part| matches!(part, Component::Normal(_)));
        let is_below = is_inside && !rest.as_os_str().is_empty();
        is_below.then_some(Found { rest, kind: Some(kind), target, source })
    };
    let mut found: Vec<Found> = listed.into_iter().filter_map(one).collect();
    found.sort_by(|one, other| one.rest.cmp(&other.rest));
    found
}

/// Paths of all files of a catalog.
pub(super) fn managed(catalog: &Catalog) -> BTreeSet<PathBuf> {
    let files = catalog.of_kind("file").iter().map(|at| &catalog.resources[*at]);
    files.filter(|file| file.is_real()).map(super::files::path_of).collect()
}

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The files as resources.
    pub(super) fn resources(mut self, host: &dyn Look) -> impl Iterator<Item = Resource> {
        let found = std::mem::take(&mut self.found);
        found.into_iter().map(move |one| self.resource(host, &one))
    }

    fn resource(&self, host: &dyn Look, found: &Found) -> Resource {
        let path = self.top.join(&found.rest);
        let bytes = path.as_os_str().as_bytes();
        let title = fx_source::visible_path(bytes);
        let mut child = self.pattern.clone();
        child.title = (&*title).into();
        let mut give = |name: &str, value: Value| child.set(name, value);
        // Somebody else made the file, and gave it a name that is not fit to be shown.
        if title.as_bytes() != bytes {
            give(
                "path",
                match path.to_str() {
                    Some(text) => Value::from(text),
                    None => Value::Binary(bytes.to_vec().into()),
                },
            );
        }
        let Some(number) = found.source else {
            if self.purge {
                give("ensure", Value::from("absent"));
            }
            return child;
        };
        let source = &self.sources[number];
        match found.kind {
            Some(Kind::Directory) => give("ensure", Value::from("directory")),
            Some(Kind::Symlink) if !self.follows => {
                let to = match (&found.target, source) {
                    (Some(to), _) => to.to_string(),
                    (None, TreeSource::Local(source)) => {
                        let to = host.read_link(&source.join(&found.rest)).unwrap_or_default();
                        to.to_string_lossy().into_owned()
                    }
                    (None, TreeSource::Served(_)) => String::new(),
                };
                give("ensure", Value::from("link"));
                give("target", Value::from(to));
            }
            _ => {
                give("ensure", Value::from("file"));
                let from = match source {
                    TreeSource::Local(source) => {
                        source.join(&found.rest).to_string_lossy().into_owned()
                    }
                    TreeSource::Served(uri) => {
                        format!("{}/{}", uri.trim_end_matches('/'), found.rest.display())
                    }
                };
                give("source", Value::from(from));
            }
        }
        child
    }
}

/// All paths below a directory in order, links not followed.
fn below(
    host: &dyn Look,
    top: &Path,
    limit: u32,
    is_ignored: &dyn Fn(&str) -> bool,
    source: Option<usize>,
) -> Vec<Found> {
    let names = |dir: &Path| host.list(dir).unwrap_or_default().into_iter();
    let mut out = Vec::new();
    let mut open = Vec::new();
    if limit > 0 {
        open.push((PathBuf::new(), names(top)));
    }
    // Names come in order, and what is in a directory comes right after it: this is the order
    // of the paths.
    while let Some((dir, left)) = open.last_mut() {
        let Some(item) = left.next() else {
            open.pop();
            continue;
        };
        if is_ignored(&item.name.to_string_lossy()) {
            continue;
        }
        let rest = dir.join(&item.name);
        let kind = item.kind.or_else(|| host.lstat(&top.join(&rest)).ok().map(|meta| meta.kind));
        let level = open.len() as u32;
        if kind == Some(Kind::Directory) && level < limit && level <= 200 {
            let inside = names(&top.join(&rest));
            open.push((rest.clone(), inside));
        }
        out.push(Found { rest: rest.into(), kind, target: None, source });
    }
    out
}

/// Two lists in the order of their paths as one. Of a path that is in both the first counts.
fn merged(first: Vec<Found>, second: Vec<Found>) -> Vec<Found> {
    if first.is_empty() || second.is_empty() {
        return if first.is_empty() { second } else { first };
    }
    let mut out = Vec::with_capacity(first.len().max(second.len()));
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        let order = one.rest.cmp(&other.rest);
        if order.is_ge() {
            let other = second.next();
            out.extend(other.filter(|_| order.is_gt()));
        }
        if order.is_le() {
            out.extend(first.next());
        }
    }
    out.extend(first);
    out.extend(second);
    out
}

#[cfg(test)]
mod tests {
    use fx_host::Edits;

    use super::*;

    fn found(paths: &[&str], source: Option<usize>) -> Vec<Found> {
        let one =
            |path: &&str| Found { rest: Path::new(path).into(), kind: None, target: None, source };
        paths.iter().map(one).collect()
    }

    #[test]
    fn two_lists_are_one_in_order_and_the_first_counts() {
        let both = merged(
            found(&["a", "a/b", "a-b", "d"], Some(0)),
            found(&["a", "a/a", "a-b", "c", "e"], None),
        );
        let shown: Vec<String> = both
            .iter()
            .map(|one| format!("{}{}", one.rest.display(), one.source.map_or("", |_| "!")))
            .collect();
        assert_eq!(shown, ["a!", "a/a", "a/b!", "a-b!", "c", "d!", "e"]);
    }

    #[test]
    fn a_walk_gives_the_order_of_paths_and_keeps_its_limit() {
        let host = fx_host::MemoryHost::linux();
        for dir in ["/t", "/t/a", "/t/a/c", "/t/b"] {
            host.make_dir(Path::new(dir), 0o755).unwrap();
        }
        for file in ["/t/a/x", "/t/a/c/y", "/t/a-b", "/t/a.skip"] {
            host.put(file, "");
        }
        let walk = |limit| -> Vec<PathBuf> {
            let skips = |name: &str| name == "a.skip";
            let all = below(&host, Path::new("/t"), limit, &skips, None);
            all.into_iter().map(|one| one.rest.into()).collect()
        };
        let all = walk(u32::MAX);
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!(all, ["a", "a/c", "a/c/y", "a/x", "a-b", "b"].map(PathBuf::from));
        assert_eq!(walk(1), ["a", "a-b", "b"].map(PathBuf::from));
        assert!(walk(0).is_empty());
    }
}
