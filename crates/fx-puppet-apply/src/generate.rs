//! Resources that others bring with them before anything is done: the files that a `tidy`
//! removes, what a `resources` purges, and the keys that a `user` does. What a directory brings is in [`super::recurse`].

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_host::Look;
use fx_puppet::text::interpolated;
use fx_puppet::{Catalog, Compiled, Regex, Resource, Value};

use super::attributes::{attribute, list, text, truth};
use super::engine_resource::Made;

/// Deepest folder that is looked into.
const MOST_DEEP: u32 = 200;

/// Metaparameters that what is generated has from what generates it.
const HANDED_ON: [&str; 5] = ["noop", "loglevel", "schedule", "tag", "audit"];

pub(super) fn child(parent: &Resource, kind: &str, title: &str, own: &[(&str, Value)]) -> Resource {
    let mut child = Resource::beside(parent, kind, title);
    for name in HANDED_ON {
        if let Some(given) = parent.attributes.get(name) {
            child.attributes.insert(name.into(), given.clone());
        }
    }
    for (name, value) in own {
        child.set(name, value.clone());
    }
    child.tags.extend(parent.tags.iter().cloned());
    child
}

/// Whether resources bring others with them before their turn.
pub(super) fn generates(resource: &Resource) -> bool {
    match &*resource.low {
        "tidy" | "resources" => true,
        "user" => attribute(resource, "purge_ssh_keys").is_some(),
        _ => false,
    }
}

/// What a resource brings with it.
pub(super) fn children(
    compiled: &Compiled,
    catalog: &Catalog,
    resource: &Resource,
) -> Result<Vec<Resource>, String> {
    match &*resource.low {
        "tidy" => tidied(compiled.run().look(), catalog, resource),
        "resources" => purged(compiled, catalog, resource),
        "user" => Ok(super::keys::unmanaged(compiled.run().look(), catalog, resource)),
        _ => Ok(Vec::new()),
    }
}

/// Files that resources written in Ruby bring, as far as that is known beforehand, each with the
/// place of who brings it. No purge takes them for unmanaged.
pub(super) fn files_of_ruby(
    catalog: &Catalog,
    made: &BTreeMap<usize, Made>,
) -> Vec<(usize, Resource)> {
    let mut files = Vec::new();
    for (at, thing) in made {
        let Made::Ruby(thing) = thing else { continue };
        if !thing.object.generates() {
            continue;
        }
        let children = thing.generated(&catalog.resources[*at], false).unwrap_or_default();
        let is_file = |child: &Resource| &*child.low == "file";
        files.extend(children.into_iter().filter(is_file).map(|child| (*at, child)));
    }
    files
}

impl super::transaction::Transaction<'_> {
    /// What a resource written in Ruby brings when it has had its turn, and what it did to others.
    pub(super) fn raised(
        &mut self,
        resource: &Resource,
        ruby: &super::ruby::RubyThing,
        failed: bool,
    ) -> Option<Result<Vec<Resource>, String>> {
        for told in self.compiled.changed_by_ruby() {
            if let Some(at) = self.catalog.find(&told.low, &told.title) {
                let known = self.changed.remove(&at);
                let mut other = known.unwrap_or_else(|| self.catalog.resources[at].clone());
                told.give(&mut other);
                self.changed.insert(at, other);
            }
        }
        if failed || !ruby.object.generates() {
            return None;
        }
        let is_new = |child: &Resource| self.catalog.find(&child.low, &child.title).is_none();
        let found = ruby.generated(resource, true);
        Some(found.map(|children| children.into_iter().filter(is_new).collect()))
    }
}

/// A number and the unit after it.
fn measure(text: &str) -> Option<(u64, Option<char>)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].chars().next().map(|unit| unit.to_ascii_lowercase())))
}

fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) = measure(text).ok_or_else(|| format!("Invalid tidy age {text}"))?;
    let scale = match unit {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') | None => 86400,
        Some('w') => 604_800,
        Some(unit) => return Err(format!("Invalid age unit '{unit}'")),
    };
    Ok(number.saturating_mul(scale))
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = measure(text).ok_or_else(|| format!("Invalid tidy size {text}"))?;
    let power = match unit {
        Some('b') => 0,
        Some('k') | None => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some(unit) => return Err(format!("Invalid size unit '{unit}'")),
    };
    Ok(number.saturating_mul(1024_u64.pow(power)))
}

/// What is wrong with a `tidy`, before anything is done.
pub(super) fn check_tidy(resource: &Resource) -> Result<(), String> {
    let failed = |name: &str, why: String| {
        Err(format!("Parameter {name} failed on {}: {why}", resource.reference()))
    };
    if let Some(Value::Int(age)) = attribute(resource, "age") {
        return failed("age", format!("Invalid tidy age {age}"));
    }
    if let Some(age) = text(resource, "age")
        && let Err(why) = seconds(&age)
    {
        return failed("age", why);
    }
    if let Some(size) = text(resource, "size")
        && let Err(why) = bytes(&size)
    {
        return failed("size", why);
    }
    let recurses = text(resource, "recurse").is_some_and(|word| word != "false" && word != "0");
    if attribute(resource, "matches").is_some() && !recurses {
        return failed(
            "matches",
            "Tidy can't use matches with recurse 0, false, or undef".to_owned(),
        );
    }
    Ok(())
}

/// Files that a `tidy` removes, those furthest down first.
fn tidied(
    host: &dyn Look,
    catalog: &Catalog,
    resource: &Resource,
) -> Result<Vec<Resource>, String> {
    let top = PathBuf::from(
        text(resource, "path").unwrap_or_else(|| resource.title.to_string()).trim_end_matches('/'),
    );
    let limit = match text(resource, "recurse").as_deref() {
        Some("true" | "inf") => Some(MOST_DEEP),
        Some("false") | None => None,
        Some(number) => number.parse().ok(),
    };
    let age = text(resource, "age").map(|age| seconds(&age)).transpose()?;
    let size = text(resource, "size").map(|size| bytes(&size)).transpose()?;
    let patterns: Vec<Regex> = list(resource, "matches")
        .iter()
        .map(|pattern| fx_puppet::glob_regex(&interpolated(pattern)))
        .collect();
    let rmdirs = truth(attribute(resource, "rmdirs"));
    let which = text(resource, "type");
    let now = host.now().secs;
    let goes = |path: &Path| {
        let name = path.to_string_lossy();
        if catalog.find("file", &name).is_some() {
            return false;
        }
        let Ok(meta) = host.lstat(path) else { return false };
        if meta.is_dir() && !rmdirs {
            return false;
        }
        let base = path.file_name().unwrap_or_default().to_string_lossy();
        if !patterns.is_empty()
            && !patterns.iter().any(|pattern| pattern.is_match(&base).unwrap_or(false))
        {
            return false;
        }
        let time = match which.as_deref() {
            Some("mtime") => meta.mtime,
            Some("ctime") => meta.ctime,
            _ => meta.atime,
        };
        match (age, size) {
            (None, None) => true,
            (age, size) => {
                age.is_some_and(|age| now.saturating_sub(time.secs) >= age as i64)
                    || size.is_some_and(|size| meta.size >= size)
            }
        }
    };
    if host.lstat(&top).is_err() {
        return Ok(Vec::new());
    }
    let mut found = vec![top.clone()];
    let mut folders = vec![(top, 0)];
    while let Some((folder, depth)) = folders.pop() {
        if limit.is_none_or(|limit| depth >= limit) {
            continue;
        }
        for item in host.list(&folder).unwrap_or_default() {
            let path = folder.join(&item.name);
            if host.lstat(&path).is_ok_and(|meta| meta.is_dir()) {
                folders.push((path.clone(), depth + 1));
            }
            found.push(path);
        }
    }
    found.retain(|path| goes(path));
    found.sort();
    let backup = attribute(resource, "backup").unwrap_or(Value::Bool(false));
    Ok(found
        .iter()
        .rev()
        .map(|path| {
            let own = [
                ("ensure", Value::from("absent")),
                ("force", Value::Bool(true)),
                ("backup", backup.clone()),
            ];
            let bytes = path.as_os_str().as_bytes();
            let title = fx_source::visible_path(bytes);
            let mut own = own.to_vec();
            // A name that is not fit to be shown is not the title.
            if title.as_bytes() != bytes {
                let text = path.to_str().map(Value::from);
                own.push(("path", text.unwrap_or_else(|| Value::Binary(bytes.to_vec().into()))));
            }
            child(resource, "file", &title, &own)
        })
        .collect())
}

/// What is on the machine of a type and not in the catalog.
fn purged(
    compiled: &Compiled,
    catalog: &Catalog,
    resource: &Resource,
) -> Result<Vec<Resource>, String> {
    if !truth(attribute(resource, "purge")) {
        return Ok(Vec::new());
    }
    let kind = text(resource, "name").unwrap_or_else(|| resource.title.to_string()).to_lowercase();
    let host = compiled.run().look();
    let read = |path: &str| {
        let bytes = host.read(Path::new(path)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let titles: Vec<String> = match kind.as_str() {
        "user" => {
            let (floor, kept) = (system_limit(resource, &read("/etc/login.defs")), kept(resource));
            let goes = |name: &str, uid: i64| {
                floor.is_none_or(|floor| {
                    !["root", "nobody", "bin", "noaccess", "daemon", "sys"].contains(&name)
                        && uid > floor
                        && !kept.contains(&uid)
                })
            };
            rows(&read("/etc/passwd"))
                .into_iter()
                .filter(|(name, uid)| goes(name, *uid))
                .map(|(name, _)| name)
                .collect()
        }
        "group" => rows(&read("/etc/group")).into_iter().map(|(name, _)| name).collect(),
        "host" => read("/etc/hosts")
            .lines()
            .filter_map(|line| {
                let line = line.split('#').next().unwrap_or_default();
                line.split_whitespace().nth(1).map(str::to_owned)
            })
            .collect(),
        // Files, packages and the like are never looked for as a whole.
        "file" => Vec::new(),
        _ => compiled.instances(&kind)?.ok_or_else(|| {
            format!("what there is of the type '{kind}' cannot be found out, so nothing is purged")
        })?,
    };
    let mut out: Vec<Resource> = Vec::new();
    for title in titles {
        let is_told =
            |known: &Resource| *known.low == *kind && known.told.as_deref() == Some(&*title);
        let is_known =
            catalog.find(&kind, &title).is_some() || catalog.resources.iter().any(is_told);
        if !is_known && !out.iter().any(|known| *known.title == *title) {
            out.push(child(resource, &kind, &title, &[("ensure", Value::from("absent"))]));
        }
    }
    Ok(out)
}

/// Names and numbers of an accounts file.
fn rows(text: &str) -> Vec<(String, i64)> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            Some((name.to_owned(), fields.nth(1)?.parse().ok()?))
        })
        .collect()
}

/// Numbers of users up to this one are the system's; nothing where all may go.
fn system_limit(resource: &Resource, login_defs: &str) -> Option<i64> {
    let given = text(resource, "unless_system_user");
    match given.as_deref() {
        Some("false") => None,
        Some(number) if number.parse::<i64>().is_ok() => number.parse().ok(),
        _ => {
            let least = login_defs.lines().find_map(|line| {
                let mut words = line.split_whitespace();
                (words.next()? == "UID_MIN").then(|| words.next()?.parse::<i64>().ok())?
            });
            Some(least.map_or(499, |least| least - 1))
        }
    }
}

/// Numbers of users that stay.
fn kept(resource: &Resource) -> Vec<i64> {
    let numbers = list(resource, "unless_uid");
    numbers.iter().filter_map(|number| interpolated(number).parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_have_units() {
        assert_eq!(seconds("1w"), Ok(604_800));
        assert_eq!(seconds("3"), Ok(3 * 86400));
        assert_eq!(seconds("2hours"), Ok(7200));
        assert!(seconds("2y").is_err());
        assert_eq!(bytes("10"), Ok(10240));
        assert_eq!(bytes("5bytes"), Ok(5));
        assert_eq!(bytes("1m"), Ok(1 << 20));
        assert!(bytes("x").is_err());
    }
}
