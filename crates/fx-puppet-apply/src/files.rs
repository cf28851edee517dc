//! Files, directories and links: what their attributes mean on the machine.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Look, Meta, Program};
use fx_puppet::text::interpolated;
use fx_puppet::{Compiled, Resource, Served, ServedKind, Value};
use fx_resources::account::Account;
use fx_resources::digest::Algorithm;
use fx_resources::directory::{self, Directory};
use fx_resources::file::{Backup, Content, Ensure, Obstruction, Verify};
use fx_resources::mode::Mode;
use fx_resources::{exec, file, link};

use super::attributes::{attribute, list, text, truth};
use super::engine_resource::{Made, Obstructed, Stubborn, Untargeted, broken};
use super::sourced::{Candidate, Kind, Sourced, is_web};

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

/// Whether a source is one that a Puppet server gives, where there is one.
pub(super) fn is_served(name: &str) -> bool {
    name.starts_with("puppet://")
}

/// The file that a source means on this machine.
pub(super) fn local_source(compiled: &Compiled, name: &str) -> Option<PathBuf> {
    match name.strip_prefix("puppet:///modules/") {
        Some(module) => compiled.module_file(module, "files"),
        None => Some(PathBuf::from(name.strip_prefix("file://").unwrap_or(name))),
    }
}

/// A property of a file as it is now, for audits.
pub(super) fn property(host: &dyn Look, resource: &Resource, name: &str) -> Option<String> {
    let path = path_of(resource);
    let meta = host.lstat(&path).ok()?;
    let word = meta.kind.word();
    Some(match name {
        "content" => fx_resources::digest::label_of_file(Algorithm::Sha256, host, &path).ok()?,
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

/// The first source of a file that there is.
enum FirstSource {
    Local(LocalSource),
    Served(Served),
    Web,
}

/// Looks for the first source there is. A Puppet server is asked once, and what it says of the
/// content is kept with the candidate.
fn first_source(
    look: &dyn Look,
    candidates: &mut [Candidate],
) -> Result<Option<FirstSource>, Failure> {
    for candidate in candidates {
        match candidate {
            Candidate::Local { path: None, .. } => {}
            Candidate::Local { path: Some(path), .. } => {
                if let Some(source) = LocalSource::at(look, path) {
                    return Ok(Some(FirstSource::Local(source)));
                }
            }
            Candidate::Web(_) => return Ok(Some(FirstSource::Web)),
            Candidate::Served { uri, server, label } => {
                let found = server.metadata(uri).map_err(|why| {
                    Failure::new(format!("Could not retrieve file metadata for {uri}: {why}"))
                })?;
                if let Some(served) = found {
                    *label = Some(served.label.clone());
                    return Ok(Some(FirstSource::Served(served)));
                }
            }
        }
    }
    Ok(None)
}

/// What a file resource is about to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Absent,
    File,
    Directory,
    Link,
    /// Whatever is there: only its owner and mode are brought to their values.
    Keep,
}

/// What a resource says of a file, and what is there.
struct Wanted<'a> {
    compiled: &'a Compiled,
    resource: &'a Resource,
    path: PathBuf,
    /// What is at the path.
    there: Option<Meta>,
    ensure: Option<String>,
    mode: Option<Mode>,
    owner: Option<Account>,
    group: Option<Account>,
    target: Option<String>,
    force: bool,
    /// A link stands for what it points to.
    follows: bool,
    /// Nothing that is there is replaced.
    create_only: bool,
    candidates: Vec<Candidate>,
    /// The first source there is, where it is on this machine.
    source: Option<LocalSource>,
    /// The first source is on a web server.
    is_web: bool,
    /// What the first source is, where it is on a Puppet server.
    served: Option<Served>,
}

/// A file, directory or link as it should be.
pub(super) fn make(compiled: &Compiled, resource: &Resource) -> Result<Made, String> {
    let look = compiled.run().look();
    let mut candidates = candidates(compiled, resource);
    let first = match first_source(look, &mut candidates) {
        Ok(first) => first,
        Err(failure) => return Ok(broken(resource, failure)),
    };
    if !candidates.is_empty() && first.is_none() {
        let all = candidates.iter().map(|one| one.shown().to_owned()).collect();
        return Ok(broken(resource, Failure::NoSource(all)));
    }
    let is_web = matches!(first, Some(FirstSource::Web));
    let (source, served) = match first {
        Some(FirstSource::Local(source)) => (Some(source), None),
        Some(FirstSource::Served(served)) => (None, Some(served)),
        Some(FirstSource::Web) | None => (None, None),
    };
    let path = match followed(look, resource) {
        Ok(path) => path,
        Err(error) => return Ok(broken(resource, error.into())),
    };
    let there = match look.lstat_opt(&path) {
        Ok(there) => there,
        Err(error) => return Ok(broken(resource, error.into())),
    };
    let account = |name: &str| text(resource, name).map(|name| Account::parse(&name));
    let mut wanted = Wanted {
        compiled,
        resource,
        path,
        there,
        ensure: text(resource, "ensure"),
        mode: text(resource, "mode").and_then(|mode| Mode::parse(&mode).ok()),
        owner: account("owner"),
        group: account("group"),
        target: text(resource, "target"),
        force: truth(attribute(resource, "force")),
        follows: follows(resource),
        create_only: attribute(resource, "replace").is_some_and(|value| {
            matches!(value, Value::Bool(false)) || matches!(value.as_str(), Some("false" | "no"))
        }),
        candidates,
        source,
        is_web,
        served,
    };
    wanted.copy_permissions();
    Ok(wanted.made())
}

fn follows(resource: &Resource) -> bool {
    text(resource, "links").as_deref() == Some("follow")
}

/// The path of a file; where a link at it is followed, what that points to.
fn followed(look: &dyn Look, resource: &Resource) -> Result<PathBuf, fx_host::HostError> {
    let path = path_of(resource);
    let ensure = text(resource, "ensure");
    // A link that is followed stands for what it points to, unless the link itself is meant.
    let is_followed = follows(resource)
        && attribute(resource, "target").is_none()
        && matches!(ensure.as_deref(), None | Some("file" | "directory" | "present"));
    if !is_followed || !look.lstat(&path).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(path);
    }
    match look.real_path_to_change(&path) {
        Ok(real) => Ok(real),
        Err(error) if error.is_not_found() => Ok(path),
        Err(error) => Err(error),
    }
}

impl Wanted<'_> {
    /// Takes mode and owners from the source, where the resource says so.
    fn copy_permissions(&mut self) {
        let (mode, uid, gid) = match (&self.source, &self.served) {
            (Some(LocalSource { meta, .. }), _) => (meta.mode, meta.uid, meta.gid),
            (None, Some(served)) => (served.mode, served.owner, served.group),
            (None, None) => return,
        };
        let copies = match text(self.resource, "source_permissions").as_deref() {
            Some("use") => true,
            Some("use_when_creating") => self.there.is_none(),
            _ => false,
        };
        if copies {
            let digits = format!("{:04o}", mode & 0o7777);
            let (uid, gid) = (uid.to_string(), gid.to_string());
            self.mode = self.mode.take().or_else(|| Mode::parse(&digits).ok());
            self.owner = self.owner.take().or_else(|| Some(Account::parse(&uid)));
            self.group = self.group.take().or_else(|| Some(Account::parse(&gid)));
        }
    }

    fn is_absent(&self) -> bool {
        self.ensure.as_deref() == Some("absent")
    }

    /// A directory that is copied as a whole.
    fn is_tree(&self) -> bool {
        let is_local_tree = self.source.as_ref().is_some_and(|source| source.meta.is_dir());
        let is_served = self.served.as_ref();
        let is_served_tree = is_served.is_some_and(|served| served.kind == ServedKind::Directory);
        (is_local_tree || is_served_tree) && attribute(self.resource, "content").is_none()
    }

    /// Whether content comes from a web server, or is known by a time or a given digest.
    fn is_sourced(&self) -> bool {
        let given = Kind::named(&text(self.resource, "checksum").unwrap_or_default());
        !self.is_absent()
            && !self.is_tree()
            && !self.candidates.is_empty()
            && (self.is_web
                || self.served.is_some()
                || has(self.resource, "checksum_value")
                || matches!(given, Some(Kind::Mtime | Kind::Ctime)))
    }

    fn content(&self) -> Option<Content> {
        match (attribute(self.resource, "content"), &self.source) {
            (Some(Value::Binary(bytes)), _) => Some(Content::bytes(bytes)),
            // Of several contents the last one counts.
            (Some(Value::Array(items)), _) => {
                items.last().map(|one| Content::bytes(interpolated(one)))
            }
            (Some(value), _) => Some(Content::bytes(interpolated(&value))),
            (None, Some(source)) if !source.meta.is_dir() => Some(Content::copy(&source.path)),
            (None, _) => None,
        }
    }

    fn form(&self, has_content: bool) -> Form {
        let (is_absent, is_tree) = (self.is_absent(), self.is_tree());
        // What a source is counts for more than what the manifest says.
        if self.is_sourced() || (!is_absent && has_content && self.source.is_some()) {
            return Form::File;
        }
        match self.ensure.as_deref() {
            Some(_) if is_tree && !is_absent => Form::Directory,
            Some("absent") => Form::Absent,
            Some("directory") => Form::Directory,
            Some("file") => Form::File,
            Some("link") => Form::Link,
            Some("present") | None if self.target.is_some() => Form::Link,
            Some("present") => match &self.there {
                Some(there) if there.is_dir() => Form::Directory,
                Some(there) if there.is_symlink() && !has_content => Form::Keep,
                _ => Form::File,
            },
            None if is_tree => Form::Directory,
            None if has_content => Form::File,
            None => Form::Keep,
            Some(_) => Form::Link,
        }
    }

    fn made(self) -> Made {
        // A link is copied as a link, unless it is to be followed.
        if let Some(LocalSource { path, is_link: true, .. }) = &self.source
            && !self.follows
        {
            let target = self.compiled.run().look().read_link(path).unwrap_or_default();
            return self.link(target, Obstruction::Remove);
        }
        if let Some(Served { kind: ServedKind::Link(target), .. }) = &self.served
            && !self.follows
        {
            let target = PathBuf::from(target);
            return self.link(target, Obstruction::Remove);
        }
        let content = self.content();
        let form = self.form(content.is_some());
        let is_dir = self.there.as_ref().is_some_and(Meta::is_dir);
        let is_link = self.there.as_ref().is_some_and(Meta::is_symlink);
        match form {
            Form::File | Form::Link if is_dir && !self.force => {
                let wanted = if form == Form::File { "file" } else { "link" };
                Made::Obstructed(Obstructed { path: self.path, wanted })
            }
            // A link that is there stays what it is, unless it is to be followed.
            Form::Keep | Form::File
                if is_link && !self.follows && (form == Form::Keep || self.create_only) =>
            {
                let target = self.compiled.run().look().read_link(&self.path).unwrap_or_default();
                self.link(target, Obstruction::default())
            }
            Form::Link => {
                let named = self.ensure.as_ref();
                let named = named.filter(|word| !matches!(word.as_str(), "link" | "present"));
                match self.target.as_ref().or(named).cloned() {
                    Some(target) => self.link(target.into(), Obstruction::Remove),
                    None => Made::Untargeted(Untargeted {
                        path: self.path,
                        from: self.there.map_or("absent", |there| there.kind.word()),
                    }),
                }
            }
            Form::Absent if is_dir && !self.force => Made::Stubborn(Stubborn { path: self.path }),
            Form::Absent if is_dir => Made::Directory(Directory::new(directory::Desired {
                path: self.path,
                ensure: Ensure::Absent,
                obstruction: Obstruction::Remove,
                recursive_removal: true,
                ..directory::Desired::default()
            })),
            Form::Absent => Made::File(Box::new(file::File::new(file::Desired {
                path: self.path,
                ensure: Ensure::Absent,
                obstruction: Obstruction::Remove,
                ..file::Desired::default()
            }))),
            Form::Directory => self.directory(Ensure::Present),
            Form::Keep if is_dir => self.directory(Ensure::IfPresent),
            Form::Keep => self.file(Ensure::IfPresent, content),
            Form::File => self.file(Ensure::Present, content),
        }
    }

    fn obstruction(&self) -> Obstruction {
        if self.force { Obstruction::Remove } else { Obstruction::Refuse }
    }

    fn link(self, target: PathBuf, obstruction: Obstruction) -> Made {
        Made::Link(link::Link::new(link::Desired {
            path: self.path,
            target,
            owner: self.owner,
            group: self.group,
            obstruction,
            ..link::Desired::default()
        }))
    }

    fn directory(self, ensure: Ensure) -> Made {
        // A directory can be searched by who may read it.
        let mode = match text(self.resource, "mode") {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let bits = u32::from_str_radix(&digits, 8).unwrap_or(0);
                Mode::parse(&format!("{:04o}", bits | ((bits & 0o444) >> 2))).ok()
            }
            _ => self.mode.clone(),
        };
        let is_made = ensure == Ensure::Present;
        Made::Directory(Directory::new(directory::Desired {
            ensure,
            mode,
            create_mode: is_made.then_some(0o755),
            // A file or a link is replaced by a directory without further ado.
            obstruction: if is_made { Obstruction::Remove } else { self.obstruction() },
            path: self.path,
            owner: self.owner,
            group: self.group,
            ..directory::Desired::default()
        }))
    }

    /// The check that new content has to pass.
    fn verify(&self) -> Vec<Verify> {
        let Some(command) = text(self.resource, "validate_cmd") else { return Vec::new() };
        let rules = exec::Rules { merge_stderr: true, ..exec::Rules::default() };
        let token = text(self.resource, "validate_replacement").unwrap_or_else(|| "%".into());
        vec![Verify::new(rules, move |path| {
            Program::Shell(command.replace(&token, &path.to_string_lossy()).into())
        })]
    }

    fn file(self, ensure: Ensure, content: Option<Content>) -> Made {
        let resource = self.resource;
        let is_sourced = self.is_sourced();
        let algorithm = super::backup::algorithm(&self.compiled.settings().given);
        let checksum = text(resource, "checksum");
        let desired = file::Desired {
            ensure,
            content: content.filter(|_| !is_sourced),
            create_mode: Some(0o644),
            obstruction: self.obstruction(),
            backup: match text(resource, "backup").as_deref() {
                Some("true") => Backup::Suffix(".puppet-bak".into()),
                Some(suffix) if suffix.starts_with('.') => Backup::Suffix(suffix.into()),
                _ => Backup::None,
            },
            verify: self.verify(),
            checksum: checksum.as_deref().and_then(Algorithm::named).unwrap_or(algorithm),
            sensitive: super::attributes::is_secret(resource, "content"),
            path: self.path,
            mode: self.mode,
            owner: self.owner,
            group: self.group,
            create_only: self.create_only,
            ..file::Desired::default()
        };
        if !is_sourced {
            return Made::File(Box::new(file::File::new(desired).with_known(self.there)));
        }
        let kind = checksum.as_deref().and_then(Kind::named);
        let kind = kind.unwrap_or(Kind::Digest(algorithm));
        let mut sourced = Sourced::new(desired, self.candidates, kind);
        sourced.value = text(resource, "checksum_value");
        sourced.creates = sourced.value.is_none() || self.ensure.is_some();
        let copies = text(resource, "source_permissions");
        let is_web = self.is_web;
        sourced.refused = copies
            .filter(|word| is_web && matches!(word.as_str(), "use" | "use_when_creating"))
            .map(|_| "Got nil value for owner");
        Made::Sourced(Box::new(sourced))
    }
}

/// Where the content of a file may come from, in order.
fn candidates(compiled: &Compiled, resource: &Resource) -> Vec<Candidate> {
    let one = |name: Value| {
        let name = interpolated(&name);
        let name = name.trim_end_matches('/');
        if is_web(name) {
            return Candidate::Web(name.to_owned());
        }
        if let Some(server) = compiled.settings().file_server.as_ref().filter(|_| is_served(name)) {
            let (uri, server) = (name.to_owned(), Rc::clone(server));
            return Candidate::Served { uri, server, label: None };
        }
        let path = local_source(compiled, name);
        let shown = if name.starts_with('/') { format!("file://{name}") } else { name.to_owned() };
        Candidate::Local { path, shown }
    };
    list(resource, "source").into_iter().map(one).collect()
}
