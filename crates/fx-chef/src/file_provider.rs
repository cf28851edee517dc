//! The native part of the providers of files and directories: what is wanted, compared with the
//! machine, as changes of the action that is under way.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Detail, Done, Failure, Resource, Target};
use fx_host::{Act, Kind};
use fx_resources::account::{self, Account};
use fx_resources::file::{Backup, Content, Desired, File, Links, Obstruction};
use fx_resources::mode::Mode;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::diff::Side;
use crate::machine::{Machine, Method, raise, text};
use crate::wording;

pub(crate) const METHODS: &[(&str, Method)] =
    &[("file_apply", file_apply), ("check_target", check_target), ("access", access)];

/// Keyword arguments of a call.
struct Keywords(Value);

impl Keywords {
    fn of(vm: &Vm, a: Args) -> Keywords {
        Keywords(vm.arg(a, 0))
    }

    fn get(&self, vm: &mut Vm, name: &str) -> Res<Option<Value>> {
        let key = Value::sym(vm.intern(name));
        if !self.0.is_hash() {
            return Ok(None);
        }
        Ok(vm.hash_get(self.0, key)?.filter(|value| !value.is_nil()))
    }

    fn flag(&self, vm: &mut Vm, name: &str) -> Res<bool> {
        Ok(self.get(vm, name)?.is_some_and(Value::truthy))
    }

    fn text(&self, vm: &mut Vm, name: &str) -> Res<String> {
        match self.get(vm, name)? {
            Some(value) => vm.to_s(value),
            None => Ok(String::new()),
        }
    }

    fn mode(&self, vm: &mut Vm) -> Res<Option<u32>> {
        Ok(self.get(vm, "mode")?.and_then(Value::fixnum).map(|mode| mode as u32 & 0o7777))
    }
}

/// Owner, group and mode as a resource wants them.
struct Access {
    mode: Option<u32>,
    owner: Option<Account>,
    group: Option<Account>,
}

impl Access {
    fn of(machine: &Machine, vm: &mut Vm, given: &Keywords) -> Res<Access> {
        let (owner, group) = (given.get(vm, "owner")?, given.get(vm, "group")?);
        Ok(Access {
            mode: given.mode(vm)?,
            owner: account(machine, vm, owner, Wanted::User)?,
            group: account(machine, vm, group, Wanted::Group)?,
        })
    }
}

/// Which kind of account is looked for.
#[derive(Clone, Copy)]
enum Wanted {
    User,
    Group,
}

fn account(
    machine: &Machine,
    vm: &mut Vm,
    given: Option<Value>,
    wanted: Wanted,
) -> Res<Option<Account>> {
    let Some(given) = given else { return Ok(None) };
    if let Some(id) = given.fixnum() {
        return Ok(Some(Account::Id(id as u32)));
    }
    let name = vm.to_s(given)?;
    let account = Account::parse(&name);
    let (known, word, error) = match wanted {
        Wanted::User => (account::user_id(machine.look(), &account), "user", "UserIDNotFound"),
        Wanted::Group => (account::group_id(machine.look(), &account), "group", "GroupIDNotFound"),
    };
    if let Ok(Some(_)) = known {
        return Ok(Some(account));
    }
    let message = wording::no_account(word, &name);
    machine.required(&message);
    // An earlier resource would have made it, had this been a real run.
    if !machine.is_converging() {
        machine.required(&wording::assumed_account(word, &name));
        return Ok(None);
    }
    raise(vm, error, &message)
}

/// A file as its resource wants it.
struct WantedFile {
    path: String,
    content: Option<Content>,
    access: Access,
    backup: Backup,
    /// Nothing of its content may be shown.
    secret: bool,
    /// A link at the path stands for what it points to.
    follow: bool,
    /// What stands at the path is looked at before the file is written.
    check: bool,
    /// Anything that stands in the way is removed.
    force: bool,
    /// The descriptions are given back, for somebody who listens in Ruby.
    heard: bool,
}

impl WantedFile {
    fn of(machine: &Machine, vm: &mut Vm, given: &Keywords) -> Res<WantedFile> {
        let content = match given.get(vm, "content")? {
            None => None,
            // A list of one path names the file whose content is wanted.
            Some(list) if list.is_arr() => {
                let first = vm.heap.arr(list).first().copied();
                let path = first.map(|path| vm.to_s(path)).transpose()?;
                path.map(|path| Content::copy(PathBuf::from(path)))
            }
            Some(bytes) if bytes.is_str() => Some(Content::bytes(vm.bytes(bytes))),
            Some(other) => Some(Content::bytes(vm.to_s(other)?.as_bytes())),
        };
        let backup = match given.get(vm, "backup")?.filter(|pair| pair.is_arr()) {
            None => Backup::None,
            Some(pair) => {
                let pair = vm.heap.arr(pair).clone();
                let dir = vm.to_s(pair[0])?;
                let copies = pair[1].fixnum().unwrap_or(5) as u32;
                Backup::Tree { dir: dir.into(), copies, utc_offset: 0 }
            }
        };
        Ok(WantedFile {
            path: given.text(vm, "path")?,
            content,
            access: Access::of(machine, vm, given)?,
            backup,
            secret: given.flag(vm, "secret")?,
            follow: given.flag(vm, "follow")?,
            check: given.flag(vm, "check")?,
            force: given.flag(vm, "force")?,
            heard: given.flag(vm, "heard")?,
        })
    }

    fn file(&self, umask: u32) -> File {
        File::new(Desired {
            path: PathBuf::from(&self.path),
            content: self.content.clone(),
            mode: self.access.mode.map(Mode::Exact),
            create_mode: Some(0o666 & !umask),
            owner: self.access.owner.clone(),
            group: self.access.group.clone(),
            backup: self.backup.clone(),
            links: if self.follow { Links::Follow } else { Links::Replace },
            obstruction: Obstruction::Remove,
            checksum: fx_resources::digest::Algorithm::Sha256,
            ..Desired::default()
        })
    }

    /// The changes as everybody may hear of them.
    fn open_changes(&self, changes: &[Change]) -> Vec<Change> {
        let open = |change: &Change| match &*change.property {
            "content" | "ensure" if self.secret => change.clone().sensitive(),
            _ => change.clone(),
        };
        changes.iter().map(open).collect()
    }
}

/// `FX.file_apply(path:, content:, mode:, owner:, group:, backup: [dir, copies], secret:, follow:,
/// check:, force:, heard:)`: nil when nothing was to do; else the descriptions of what was
/// changed, as lists, when somebody listens, and otherwise only that there was something.
fn file_apply(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let given = Keywords::of(vm, a);
    let wanted = WantedFile::of(machine, vm, &given)?;
    let converging = machine.is_converging();
    let mut file = wanted.file(vm.umask);
    let observed = file.observe(machine.look());
    if matches!(&observed, Ok(changes) if changes.is_empty()) {
        return Ok(NIL);
    }
    // A file that is as it should be has nothing in its way, so only others are looked at. Where
    // there is nothing yet, only a failure shows that the directory is not there either.
    let absent = |change: &Change| {
        change.property == "ensure" && change.from.as_bytes() == Some(b"absent".as_slice())
    };
    let nothing = wanted.check && observed.as_ref().is_ok_and(|changes| changes.iter().any(absent));
    let obstacle = |vm: &mut Vm| obstacle(machine, vm, &wanted.path, wanted.force, nothing);
    if wanted.check && !(converging && nothing) {
        obstacle(vm)?;
    }
    let changes = match observed {
        Ok(changes) => changes,
        Err(failure) => return fail(vm, &failure),
    };
    let now = machine.look().now();
    let was = written_at(machine, &wanted.path, &changes).unwrap_or((now.secs, now.nanos));
    let open = wanted.open_changes(&changes);
    let done = machine.change(&open, |act| file.apply(act, &changes));
    if let Err(failure) = done {
        if nothing {
            obstacle(vm)?;
        }
        return fail(vm, &failure);
    }
    let descriptions = describe(vm, &wanted, &changes, converging, (was, (now.secs, now.nanos)));
    if !wanted.heard {
        for lines in descriptions {
            machine.applied(&lines);
        }
        return Ok(Value::bool(true));
    }
    let mut lists = Vec::new();
    for lines in descriptions {
        let lines = lines.into_iter().map(|line| vm.str(line)).collect();
        lists.push(vm.arr(lines));
    }
    Ok(vm.arr(lists))
}

fn fail<T>(vm: &mut Vm, failure: &Failure) -> Res<T> {
    match failure {
        Failure::Interrupted => crate::actions::stopped(vm),
        other => vm.fail(fx_ruby::object::c::RUNTIME_ERROR, other.to_string()),
    }
}

/// When the content that is replaced was written.
fn written_at(machine: &Machine, path: &str, changes: &[Change]) -> Option<(i64, u32)> {
    let changed = |property: &str| changes.iter().any(|change| change.property == property);
    if changed("ensure") || !changed("content") {
        return None;
    }
    let meta = machine.look().stat_opt(Path::new(path)).ok().flatten()?;
    Some((meta.mtime.secs, meta.mtime.nanos))
}

/// `FX.check_target(path, remove what is in the way)`.
fn check_target(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let force = vm.opt(a, 1).is_some_and(Value::truthy);
    obstacle(machine, vm, &path, force, false)?;
    Ok(NIL)
}

/// Fails when a file cannot stand at a path: no directory around it, or something else there.
/// What is known to be absent is not looked for again.
fn obstacle(machine: &Machine, vm: &mut Vm, path: &str, force: bool, absent: bool) -> Res<()> {
    let at = Path::new(path);
    let look = |vm: &mut Vm, at: &Path, found: fx_host::Result<Option<fx_host::Meta>>| {
        found.or_else(|error| vm.host_error(&error, &at.to_string_lossy()))
    };
    let there = if absent { None } else { look(vm, at, machine.look().lstat_opt(at))? };
    match there.map(|meta| meta.kind) {
        None => {
            let parent = at.parent().unwrap_or(Path::new("/"));
            let there = look(vm, parent, machine.look().stat_opt(parent))?;
            if there.is_some_and(|meta| meta.is_dir()) {
                return Ok(());
            }
            let message = format!("Parent directory {} does not exist.", parent.display());
            machine.required(&message);
            if machine.is_converging() {
                return raise(vm, "EnclosingDirectoryDoesNotExist", &message);
            }
            let parent = parent.display();
            machine.required(&format!("Assuming directory {parent} would have been created"));
            Ok(())
        }
        Some(Kind::File | Kind::Symlink) => Ok(()),
        Some(_) if force => Ok(()),
        Some(kind) => {
            let what = if kind == Kind::Directory { "a directory" } else { "not a regular file" };
            let message =
                format!("File {path} exists, but is {what}, set force_unlink to true to remove");
            machine.required(&message);
            raise(vm, "FileTypeMismatch", &message)
        }
    }
}

/// A moment in seconds and nanoseconds.
type Moment = (i64, u32);

/// The changes in the words of Chef's formatter; `times` are when the old content was written,
/// and now.
fn describe(
    vm: &mut Vm,
    wanted: &WantedFile,
    changes: &[Change],
    converging: bool,
    times: (Moment, Moment),
) -> Vec<Vec<String>> {
    let path = &wanted.path;
    let find = |property: &str| changes.iter().find(|change| change.property == property);
    let created = find("ensure").is_some();
    let mut out = Vec::new();
    if created {
        out.push(vec![wording::created(path)]);
    }
    // A file that is not there has no content to change, as long as nothing is done.
    if let Some(change) = find("content").filter(|_| converging || !created) {
        let mut lines = vec![wording::content(path, change, created)];
        if wanted.secret {
            out.push(lines);
            lines = vec![wording::SUPPRESSED.into()];
        } else if let Some(Detail::Content { old, new }) = &change.detail {
            let name = Path::new(path);
            let beside = name.file_name().unwrap_or_default().to_string_lossy();
            let temporary = name.with_file_name(format!(".chef-{beside}"));
            let before = Side { name: path, at: times.0 };
            let after = Side { name: &temporary.to_string_lossy(), at: times.1 };
            lines.extend(crate::diff::lines(vm, (before, old), (after, new)));
        } else {
            lines.push(wording::NO_DIFF.into());
        }
        out.push(lines);
    }
    for change in ["mode", "owner", "group"].into_iter().filter_map(find) {
        out.push(vec![wording::access(change, created)]);
    }
    out
}

/// `FX.access(path:, mode:, owner:, group:, new:)`: permissions of a directory; whether
/// something had to be done. One that is new had none.
fn access(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let given = Keywords::of(vm, a);
    let path = PathBuf::from(given.text(vm, "path")?);
    let new = given.flag(vm, "new")?;
    let wanted = Access::of(machine, vm, &given)?;
    let found = machine.look().stat_opt(&path);
    let meta = found.or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    let look = machine.look();
    let uid = wanted.owner.as_ref().and_then(|o| account::user_id(look, o).ok().flatten());
    let gid = wanted.group.as_ref().and_then(|g| account::group_id(look, g).ok().flatten());
    let change = |property: &'static str, from: fx_value::Value, to: String| {
        Change::of(Target::file(&path), property, from, to)
    };
    let absent = || fx_value::Value::from("absent");
    let mut mode = None;
    if let Some(want) = wanted.mode
        && (new || meta.as_ref().is_none_or(|meta| meta.mode & 0o7777 != want))
    {
        let from = meta.as_ref().filter(|_| !new);
        let from = from.map_or_else(absent, |m| format!("{:o}", m.mode & 0o7777).into());
        mode = Some((change("mode", from, format!("{want:o}")), want));
    }
    let mut owners = Vec::new();
    if let (Some(want), Some(to)) = (uid, &wanted.owner)
        && (new || meta.as_ref().is_none_or(|meta| meta.uid != want))
    {
        let from = meta.as_ref().filter(|_| !new);
        let from = from.map_or_else(absent, |m| account::user_label(look, m.uid));
        owners.push(change("owner", from, to.to_string()));
    }
    if let (Some(want), Some(to)) = (gid, &wanted.group)
        && (new || meta.as_ref().is_none_or(|meta| meta.gid != want))
    {
        let from = meta.as_ref().filter(|_| !new);
        let from = from.map_or_else(absent, |m| account::group_label(look, m.gid));
        owners.push(change("group", from, to.to_string()));
    }
    let changes: Vec<Change> =
        mode.iter().map(|(change, _)| change).chain(&owners).cloned().collect();
    if changes.is_empty() {
        return Ok(NIL);
    }
    let done: Result<Done, Failure> = machine.change(&changes, |act: &dyn Act| {
        // What a link leads to, as long as nobody else can lead it elsewhere.
        let place = act.real_path_to_change(&path)?;
        // Giving a file away clears bits of its mode, so that comes first.
        if !owners.is_empty() {
            act.set_owner(&place, uid, gid)?;
        }
        if let Some((_, want)) = &mode {
            act.set_mode(&place, *want)?;
        }
        Ok(())
    });
    if let Err(failure) = done {
        return fail(vm, &failure);
    }
    for change in &changes {
        machine.applied(&[wording::access(change, new)]);
    }
    Ok(Value::bool(true))
}
