//! Files, directories and links: what their attributes mean on the machine.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_engine::Failure;
use fx_host::{Look, Meta, Program};
use fx_resources::account::Account;
use fx_resources::digest::Algorithm;
use fx_resources::file::{Backup, Content, Ensure, Obstruction, Verify};
use fx_resources::mode::Mode;
use fx_resources::{directory, exec, file, link};

use super::attributes::{attribute, list, text, truth};
use super::engine_resource::{Made, Obstructed, Stubborn, broken};
use super::sourced::{Candidate, Kind, Sourced, is_web};
use crate::compile::Resource;
use crate::eval::{Evaluator, interpolated};
use crate::value::Value;

fn has(resource: &Resource, name: &str) -> bool {
    attribute(resource, name).is_some()
}

/// The path of a file, without slashes at its end.
pub(super) fn path_of(resource: &Resource) -> PathBuf {
    // A name on the disk need not be text.
    if let Some(Value::Binary(bytes)) = attribute(resource, "path") {
        return PathBuf::from(std::ffi::OsStr::from_bytes(&bytes));
    }
    let path = text(resource, "path").unwrap_or_else(|| resource.title.to_string());
    let bare = path.trim_end_matches('/');
    PathBuf::from(if bare.is_empty() { "/" } else { bare })
}

/// The file that a source means on this machine.
pub(super) fn local_source(evaluator: &Evaluator, name: &str) -> Option<PathBuf> {
    match name.strip_prefix("puppet:///modules/") {
        Some(module) => evaluator.module_file(module, "files"),
        None => Some(PathBuf::from(name.strip_prefix("file://").unwrap_or(name))),
    }
}

/// A property of a file as it is now, for audits.
pub(super) fn property(host: &dyn Look, resource: &Resource, name: &str) -> Option<String> {
    let path = path_of(resource);
    let meta = host.lstat(&path).ok()?;
    let word = meta.kind.word();
    Some(match name {
        "content" => Algorithm::Sha256.label_of_file(host, &path).ok()?,
        "mode" => format!("{:04o}", meta.mode & 0o7777),
        "target" if meta.is_symlink() => host.read_link(&path).ok()?.to_string_lossy().into_owned(),
        "target" => "notlink".into(),
        "checksum_value" | "seluser" | "selrole" | "seltype" | "selrange" => String::new(),
        "ctime" | "mtime" => {
            let time = if name == "ctime" { meta.ctime } else { meta.mtime };
            let at = jiff::Timestamp::from_second(time.secs).unwrap_or_default();
            format!("{}.{:09} +0000", at.strftime("%Y-%m-%d %H:%M:%S"), time.nanos)
        }
        "ensure" | "type" => word.to_owned(),
        "owner" => meta.uid.to_string(),
        "group" => meta.gid.to_string(),
        _ => return None,
    })
}

/// A source on this machine, and what it is, looked at once.
struct LocalSource {
    path: PathBuf,
    /// What is there, links followed.
    meta: Meta,
    is_link: bool,
}

impl LocalSource {
    /// What is at a path, if something is.
    fn at(host: &dyn Look, path: &Path) -> Option<LocalSource> {
        let mut meta = host.lstat(path).ok()?;
        let is_link = meta.is_symlink();
        if is_link {
            meta = host.stat(path).ok()?;
        }
        Some(LocalSource { path: path.to_owned(), meta, is_link })
    }
}

/// A file, directory or link as it should be.
pub(super) fn make(evaluator: &Evaluator, resource: &Resource) -> Result<Made, String> {
    let mut path = path_of(resource);
    if !path.is_absolute() {
        return Err(format!(
            "Parameter path failed on {}: File paths must be fully qualified, not '{}'",
            resource.reference(),
            path.display()
        ));
    }
    let mut mode = text(resource, "mode").and_then(|mode| Mode::parse(&mode).ok());
    super::backup::check(resource)?;
    let mut owner = text(resource, "owner").map(|owner| Account::parse(&owner));
    let mut group = text(resource, "group").map(|group| Account::parse(&group));
    let force = truth(attribute(resource, "force"));
    let obstruction = if force { Obstruction::Remove } else { Obstruction::Refuse };
    let candidates = candidates(evaluator, resource);
    let host = evaluator.run.host;
    let found = candidates.iter().find_map(|candidate| match candidate {
        Candidate::Local { path, .. } => LocalSource::at(host, path.as_ref()?).map(Some),
        Candidate::Web(_) => Some(None),
    });
    let is_absent = text(resource, "ensure").as_deref() == Some("absent");
    let is_web = matches!(found, Some(None));
    let source = found.flatten();
    if !candidates.is_empty() && source.is_none() && !is_web {
        let all = candidates.iter().map(|one| one.shown().to_owned()).collect();
        return Ok(broken(resource, Failure::NoSource(all)));
    }
    let ensure = text(resource, "ensure");
    // A link that is followed stands for what it points to, unless the link itself is meant.
    let follows = text(resource, "links").as_deref() == Some("follow");
    let is_followed = follows
        && attribute(resource, "target").is_none()
        && matches!(ensure.as_deref(), None | Some("file" | "directory" | "present"));
    if is_followed && host.lstat(&path).is_ok_and(|meta| meta.is_symlink()) {
        match host.real_path_to_change(&path) {
            Ok(real) => path = real,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Ok(broken(resource, error.into())),
        }
    }
    let there = match evaluator.run.host.lstat_opt(&path) {
        Ok(there) => there,
        Err(error) => return Ok(broken(resource, error.into())),
    };
    if let Some(LocalSource { path: source, meta, is_link }) = &source {
        let copies_mode = match text(resource, "source_permissions").as_deref() {
            Some("use") => true,
            Some("use_when_creating") => there.is_none(),
            _ => false,
        };
        if copies_mode {
            let digits = format!("{:04o}", meta.mode & 0o7777);
            mode = mode.or_else(|| Mode::parse(&digits).ok());
            owner = owner.or_else(|| Some(Account::parse(&meta.uid.to_string())));
            group = group.or_else(|| Some(Account::parse(&meta.gid.to_string())));
        }
        // A link is copied as a link, unless it is to be followed.
        if *is_link && !follows {
            let target = host.read_link(source).unwrap_or_default();
            return Ok(Made::Link(link::Link::new(link::Desired {
                path,
                target,
                owner,
                group,
                obstruction: Obstruction::Remove,
                ..link::Desired::default()
            })));
        }
    }
    let source_is_file = source.is_some();
    let source_is_dir = source.as_ref().is_some_and(|source| source.meta.is_dir());
    let content = match (attribute(resource, "content"), source) {
        (Some(Value::Binary(bytes)), _) => Some(Content::bytes(bytes)),
        // Of several contents the last one counts.
        (Some(Value::Array(items)), _) => items.last().map(|one| Content::bytes(interpolated(one))),
        (Some(value), _) => Some(Content::bytes(interpolated(&value))),
        (None, Some(source)) => Some(Content::copy(source.path)),
        (None, None) => None,
    };
    let is_tree = source_is_dir && matches!(content, Some(Content::Copy { .. }));
    let content = if is_tree { None } else { content };
    let target = text(resource, "target");
    let given = Kind::named(&text(resource, "checksum").unwrap_or_default());
    let is_sourced = !is_absent
        && !is_tree
        && !candidates.is_empty()
        && (is_web
            || has(resource, "checksum_value")
            || matches!(given, Some(Kind::Mtime | Kind::Ctime)));
    let word = match ensure.as_deref() {
        // What a source is counts for more than what the manifest says.
        Some(_) | None if is_sourced || (!is_absent && content.is_some() && source_is_file) => {
            "file"
        }
        Some(_) if is_tree && !is_absent => "directory",
        Some(word @ ("absent" | "directory" | "file" | "link")) => word,
        Some("present") | None if target.is_some() => "link",
        Some("present") => match there.as_ref() {
            Some(there) if there.is_dir() => "directory",
            Some(there) if there.is_symlink() && content.is_none() => "keep",
            _ => "file",
        },
        None if is_tree => "directory",
        None if content.is_some() => "file",
        None => "keep",
        Some(_) => "link",
    };
    let if_present = if word == "keep" { Ensure::IfPresent } else { Ensure::Present };
    let is_dir = there.as_ref().is_some_and(Meta::is_dir);
    if matches!(word, "file" | "link") && is_dir && !force {
        let wanted = if word == "file" { "file" } else { "link" };
        return Ok(Made::Obstructed(Obstructed { path, wanted }));
    }
    // A link that is there stays what it is, unless it is to be followed.
    let create_only = attribute(resource, "replace").is_some_and(|value| {
        matches!(value, Value::Bool(false)) || matches!(value.as_str(), Some("false" | "no"))
    });
    if (word == "keep" || (word == "file" && create_only))
        && there.as_ref().is_some_and(Meta::is_symlink)
        && !follows
    {
        let target = evaluator.run.host.read_link(&path).unwrap_or_default();
        return Ok(Made::Link(link::Link::new(link::Desired {
            path,
            target,
            owner,
            group,
            ..link::Desired::default()
        })));
    }
    // A directory is searched by who may read it.
    let dir_mode = match text(resource, "mode") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let bits = u32::from_str_radix(&digits, 8).unwrap_or(0);
            Mode::parse(&format!("{:04o}", bits | ((bits & 0o444) >> 2))).ok()
        }
        _ => mode.clone(),
    };
    let verify = match text(resource, "validate_cmd") {
        Some(command) => {
            let rules = exec::Rules { merge_stderr: true, ..exec::Rules::default() };
            let token = text(resource, "validate_replacement").unwrap_or_else(|| "%".into());
            vec![Verify::new(rules, move |path| {
                Program::Shell(command.replace(&token, &path.to_string_lossy()).into())
            })]
        }
        None => Vec::new(),
    };
    Ok(match word {
        "link" => {
            let named = ensure.filter(|ensure| !matches!(ensure.as_str(), "link" | "present"));
            let Some(target) = target.or(named) else {
                return Ok(Made::Untargeted(super::engine_resource::Untargeted {
                    path,
                    from: there.map_or("absent", |there| there.kind.word()),
                }));
            };
            Made::Link(link::Link::new(link::Desired {
                path,
                target: target.into(),
                owner,
                group,
                obstruction: Obstruction::Remove,
                ..link::Desired::default()
            }))
        }
        "absent" if is_dir => {
            if !force {
                return Ok(Made::Stubborn(Stubborn { path }));
            }
            Made::Directory(directory::Directory::new(directory::Desired {
                path,
                ensure: Ensure::Absent,
                obstruction,
                recursive_removal: true,
                ..directory::Desired::default()
            }))
        }
        "absent" => Made::File(file::File::new(file::Desired {
            path,
            ensure: Ensure::Absent,
            obstruction: Obstruction::Remove,
            ..file::Desired::default()
        })),
        "directory" => Made::Directory(directory::Directory::new(directory::Desired {
            path,
            mode: dir_mode,
            create_mode: Some(0o755),
            owner,
            group,
            // A file or a link makes room for a directory without being asked.
            obstruction: Obstruction::Remove,
            ..directory::Desired::default()
        })),
        "keep" if is_dir => Made::Directory(directory::Directory::new(directory::Desired {
            path,
            ensure: if_present,
            mode: dir_mode,
            owner,
            group,
            obstruction,
            ..directory::Desired::default()
        })),
        _ => {
            let desired = file::Desired {
                path,
                ensure: if_present,
                content,
                mode,
                create_mode: Some(0o644),
                owner,
                group,
                obstruction,
                backup: match text(resource, "backup").as_deref() {
                    Some("true") => Backup::Suffix(".puppet-bak".into()),
                    Some(suffix) if suffix.starts_with('.') => Backup::Suffix(suffix.into()),
                    _ => Backup::None,
                },
                create_only,
                verify,
                checksum: text(resource, "checksum")
                    .and_then(|name| Algorithm::named(&name))
                    .unwrap_or_else(|| super::backup::algorithm(evaluator)),
                sensitive: super::attributes::is_secret(resource, "content"),
                ..file::Desired::default()
            };
            if !is_sourced {
                return Ok(Made::File(file::File::new(desired)));
            }
            let algorithm = super::backup::algorithm(evaluator);
            let kind = given.unwrap_or(Kind::Digest(algorithm));
            let mut sourced =
                Sourced::new(file::Desired { content: None, ..desired }, candidates, kind);
            sourced.value = text(resource, "checksum_value");
            sourced.creates = sourced.value.is_none() || ensure.is_some();
            let copies = text(resource, "source_permissions");
            sourced.refused = copies
                .filter(|word| is_web && matches!(word.as_str(), "use" | "use_when_creating"))
                .map(|_| "Got nil value for owner");
            Made::Sourced(Box::new(sourced))
        }
    })
}

/// Where the content of a file may come from, in order.
fn candidates(evaluator: &Evaluator, resource: &Resource) -> Vec<Candidate> {
    let one = |name: Value| {
        let name = interpolated(&name);
        let name = name.trim_end_matches('/');
        if is_web(name) {
            return Candidate::Web(name.to_owned());
        }
        let path = local_source(evaluator, name);
        let shown = if name.starts_with('/') { format!("file://{name}") } else { name.to_owned() };
        Candidate::Local { path, shown }
    };
    list(resource, "source").into_iter().map(one).collect()
}
