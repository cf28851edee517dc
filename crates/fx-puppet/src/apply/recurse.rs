//! Files that a directory brings with it: from its source, from what lies in it, and those
//! to purge.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::things::{attribute, list, text, truth};
use crate::compile::{Attribute, Catalog, Resource};
use crate::eval::{Evaluator, interpolated};
use crate::value::Value;

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
pub(super) fn too_many(evaluator: &Evaluator, resource: &Resource) -> Option<String> {
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
    let count = below(evaluator, &top, limit, &|_| false).len();
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

/// Files that come with a directory, in the order of their paths.
pub(super) fn children(
    evaluator: &Evaluator,
    catalog: &Catalog,
    resource: &Resource,
) -> Vec<Resource> {
    if &*resource.low != "file" {
        return Vec::new();
    }
    let Some(limit) = depth(resource) else { return Vec::new() };
    let host = evaluator.run.host;
    let top = super::files::path_of(resource);
    let ignored: Vec<crate::regex::Regex> = list(resource, "ignore")
        .iter()
        .map(|name| crate::lookup::glob_regex(&interpolated(name)))
        .collect();
    let is_ignored = |name: &str| ignored.iter().any(|regex| regex.is_match(name).unwrap_or(false));
    let is_remote = text(resource, "recurse").as_deref() == Some("remote");
    let mut found: BTreeMap<PathBuf, Vec<(&'static str, Value)>> = BTreeMap::new();
    if !is_remote {
        for path in below(evaluator, &top, limit, &is_ignored) {
            found.insert(path, Vec::new());
        }
    }
    let mut from_source: Vec<PathBuf> = Vec::new();
    let all = text(resource, "sourceselect").as_deref() == Some("all");
    for source in list(resource, "source") {
        let Some(source) = super::files::local_source(evaluator, &interpolated(&source)) else {
            continue;
        };
        if !host.stat(&source).is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        for path in below(evaluator, &source, limit, &is_ignored) {
            let Ok(rest) = path.strip_prefix(&source) else { continue };
            let target = top.join(rest);
            if from_source.contains(&target) {
                continue;
            }
            let meta = host.lstat(&path);
            let mut own = Vec::new();
            match meta.map(|meta| meta.kind) {
                Ok(fx_host::Kind::Directory) => own.push(("ensure", Value::from("directory"))),
                Ok(fx_host::Kind::Symlink)
                    if text(resource, "links").as_deref() != Some("follow") =>
                {
                    let to = host.read_link(&path).unwrap_or_default();
                    own.push(("ensure", Value::from("link")));
                    own.push(("target", Value::from(to.to_string_lossy().into_owned())));
                }
                _ => {
                    own.push(("ensure", Value::from("file")));
                    own.push(("source", Value::from(path.to_string_lossy().into_owned())));
                }
            }
            from_source.push(target.clone());
            found.insert(target, own);
        }
        if !all {
            break;
        }
    }
    let purge = truth(attribute(resource, "purge"));
    // What another resource manages below is its own, with all that is in it.
    let others: Vec<PathBuf> = catalog
        .resources
        .iter()
        .filter(|other| &*other.low == "file" && other.is_real())
        .map(super::files::path_of)
        .filter(|path| *path != top && path.starts_with(&top))
        .collect();
    let mut out = Vec::new();
    for (path, own) in found {
        let bytes = path.as_os_str().as_bytes();
        let title = fx_source::visible_path(bytes);
        if others.iter().any(|other| path.starts_with(other)) {
            continue;
        }
        let mut child = Resource::new("file", &title, resource.span, Rc::clone(&resource.frame));
        let source = Rc::clone(&resource.frame.source);
        for name in INHERITED {
            if let Some(given) = resource.attributes.get(name) {
                child.attributes.insert(name.into(), given.clone());
            }
        }
        let is_own = from_source.contains(&path);
        let own = if purge && !is_own { vec![("ensure", Value::from("absent"))] } else { own };
        for (name, value) in own {
            child.attributes.insert(name.into(), Attribute::new(value, resource.span, &source));
        }
        // Somebody else made the file, and gave it a name that is not fit to be shown.
        if title.as_bytes() != bytes {
            let real = match path.to_str() {
                Some(text) => Value::from(text),
                None => Value::Binary(bytes.to_vec().into()),
            };
            child.attributes.insert("path".into(), Attribute::new(real, resource.span, &source));
        }
        child.tags.clone_from(&resource.tags);
        out.push(child);
    }
    out
}

/// All paths below a directory, links not followed.
fn below(
    evaluator: &Evaluator,
    top: &Path,
    limit: u32,
    is_ignored: &dyn Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let host = evaluator.run.host;
    let mut out = Vec::new();
    let mut left = vec![(top.to_path_buf(), 0)];
    while let Some((dir, level)) = left.pop() {
        if level >= limit || level > 200 {
            continue;
        }
        for item in host.list(&dir).unwrap_or_default() {
            if is_ignored(&item.name.to_string_lossy()) {
                continue;
            }
            let path = dir.join(&item.name);
            if host.lstat(&path).is_ok_and(|meta| meta.is_dir()) {
                left.push((path.clone(), level + 1));
            }
            out.push(path);
        }
    }
    out.sort();
    out
}
