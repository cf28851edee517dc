//! Methods of `FX` that look at files and names, and the native part of the file provider.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Detail, Resource};
use fx_host::{Host, Kind};
use fx_resources::account::{self, Account};
use fx_resources::file::{Backup, Content, Desired, File, Links, Obstruction};
use fx_resources::mode::Mode;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::diff::Side;
use crate::machine::{Machine, Method, bytes, raise, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("read", read),
    ("eval_file", eval_file),
    ("run_in", run_in),
    ("parse_json", parse_json),
    ("file?", is_file),
    ("scan", scan),
    ("subdirs", subdirs),
    ("here", here),
    ("bare_name?", bare_name),
    ("snake", snake),
    ("camel", camel),
    ("load", load),
    ("cwd", cwd),
    ("uuid", uuid),
    ("ohai", ohai),
    ("settle", settle),
    ("file_apply", file_apply),
    ("check_target", check_target),
    ("check_mount_point", check_mount_point),
    ("access", access),
];

fn absolute(machine: &Machine, name: &str) -> PathBuf {
    machine.request.cwd.join(name)
}

/// The bytes of a file, or nil.
fn read(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    match machine.host.read_opt(&absolute(machine, &name)) {
        Ok(Some(bytes)) => Ok(vm.str(bytes)),
        _ => Ok(NIL),
    }
}

/// `FX.eval_file(path, object)`: runs a file with that self and constants of its own; with
/// a third argument, as the body of the class.
fn eval_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let me = vm.arg(a, 1);
    // What runs as root is read only if nobody else can write it.
    let text = match machine.host.read_trusted_opt(&absolute(machine, &name)) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return raise(vm, "ConfigurationError", &error.to_string()),
    };
    machine.effects.file(&name, || match me.as_class() {
        Some(class) if vm.opt(a, 2).is_some_and(Value::truthy) => {
            vm.run_in_class(&text, &name, class)
        }
        _ => vm.run_with_self(&text, &name, me),
    })
}

/// `FX.run_in(object, block, *args)`: calls a block with another self. Unlike
/// `instance_exec` it makes no singleton class, which would cost every later call dearly.
fn run_in(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (me, block) = (vm.arg(a, 0), vm.arg(a, 1));
    let args: Vec<Value> = (2..a.argc).map(|i| vm.arg(a, i)).collect();
    if args.is_empty() {
        return vm.yield_self(block, me, &[me], None);
    }
    vm.yield_self(block, me, &args, None)
}

/// `FX.parse_json(text)`: without the library, which most runs never need.
fn parse_json(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = bytes(vm, a, 0)?.unwrap_or_default();
    match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(json) => crate::machine::from_json(vm, &json),
        Err(error) => {
            let class = crate::machine::path(vm, &["Chef", "Exceptions", "JSON", "ParseError"])?;
            vm.fail(class.as_class().unwrap_or_default(), format!("parse error: {error}"))
        }
    }
}

fn is_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let meta = machine.host.stat_opt(&absolute(machine, &name)).ok().flatten();
    Ok(Value::bool(meta.is_some_and(|meta| meta.is_file())))
}

/// All files below a directory, relative, sorted; hidden version control is left out.
fn scan(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let mut found = Vec::new();
    walk(&*machine.host, &absolute(machine, &name), String::new(), 0, &mut found);
    found.sort();
    let list = found.into_iter().map(|path| vm.str(path)).collect();
    Ok(vm.arr(list))
}

fn walk(host: &dyn Host, dir: &Path, prefix: String, depth: u32, found: &mut Vec<String>) {
    if depth > 60 {
        return;
    }
    for entry in host.list(dir).unwrap_or_default() {
        let name = entry.name.to_string_lossy().into_owned();
        if depth == 0 && matches!(name.as_str(), ".git" | "spec" | "test" | ".kitchen") {
            continue;
        }
        let path = dir.join(&name);
        let Ok(meta) = host.stat(&path) else { continue };
        if meta.is_dir() {
            walk(host, &path, format!("{prefix}{name}/"), depth + 1, found);
        } else {
            found.push(format!("{prefix}{name}"));
        }
    }
}

fn subdirs(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(name) = text(vm, a, 0)? else { return Ok(NIL) };
    let dir = absolute(machine, &name);
    let mut list = Vec::new();
    for entry in machine.host.list(&dir).unwrap_or_default() {
        let meta = machine.host.stat_opt(&dir.join(&entry.name)).ok().flatten();
        if meta.is_some_and(|meta| meta.is_dir()) {
            list.push(vm.str(entry.name.to_string_lossy().into_owned()));
        }
    }
    Ok(vm.arr(list))
}

/// `path:line` of the innermost code that is not ours.
fn here(_: &Machine, vm: &mut Vm, _: Args) -> R {
    let found = vm.frames.iter().rev().copied().find(|frame| {
        let path = vm.path_of(frame.code.file);
        !path.starts_with("<internal:")
    });
    let Some(frame) = found else { return Ok(NIL) };
    let path = vm.path_of(frame.code.file);
    let mut name = vm.frame_name(frame);
    // The original reads these files inside methods of these names.
    if name.contains('<') || name.contains("compile_action_") {
        let own = ["/resources/", "/providers/"].iter().any(|dir| path.contains(dir));
        let file = if own { "class_from_file" } else { "from_file" };
        let block = if name.starts_with("block in ") { "block in " } else { "" };
        name = format!("{block}{file}");
    }
    let line = vm.line_of(frame.code.file, frame.pos);
    let place = format!("{path}:{line}:in `{name}'");
    Ok(vm.str(place))
}

/// `FX.bare_name?`: whether what is missing might have been a variable.
fn bare_name(_: &Machine, vm: &mut Vm, _: Args) -> R {
    Ok(Value::bool(vm.bare_name))
}

/// `AptUpdate` as `apt_update`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (i, ch) in chars.iter().enumerate() {
        let before = i > 0 && (chars[i - 1].is_ascii_lowercase() || chars[i - 1].is_ascii_digit());
        let after = i > 0
            && chars[i - 1].is_ascii_uppercase()
            && chars.get(i + 1).is_some_and(char::is_ascii_lowercase);
        if ch.is_ascii_uppercase() && (before || after) {
            out.push('_');
        }
        out.extend(ch.to_lowercase());
    }
    out
}

fn snake(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    Ok(vm.str(snake_case(&name)))
}

fn camel(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let mut out = String::new();
    let mut upper = true;
    for ch in name.chars() {
        if ch == '_' || ch == '-' {
            upper = true;
        } else if upper {
            out.extend(ch.to_uppercase());
            upper = false;
        } else {
            out.push(ch);
        }
    }
    Ok(vm.str(out))
}

/// Reads a file of the prelude, once; nothing when there is none of that name.
fn load(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    vm.load_prelude_file(&name)?;
    Ok(NIL)
}

fn cwd(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    Ok(vm.str(machine.request.cwd.to_string_lossy().into_owned()))
}

fn uuid(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let mut b = [0u8; 16];
    machine.host.random(&mut b);
    let hex: String = b.iter().map(|x| format!("{x:02x}")).collect();
    Ok(vm.str(format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )))
}

/// Automatic attributes: from the given file, or from the machine, with the optional plug-ins
/// whose names are given in one text.
fn ohai(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let optional = text(vm, a, 0)?.unwrap_or_default();
    let optional: Vec<String> = optional.split(' ').map(str::to_owned).collect();
    let json = match &machine.request.facts {
        Some(path) => {
            let text = machine.host.read(&machine.request.cwd.join(path)).unwrap_or_default();
            serde_json::from_slice(&text).unwrap_or(serde_json::Value::Null)
        }
        None => crate::ohai::automatic(&*machine.host, &optional),
    };
    crate::machine::from_json(vm, &json)
}

/// Puts what was written under its final names.
fn settle(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let settled = machine.host.settle();
    settled.or_else(|error| {
        let path = error.path().map(|path| path.to_string_lossy().into_owned());
        vm.host_error(&error, &path.unwrap_or_default())
    })?;
    Ok(NIL)
}

fn owner(machine: &Machine, vm: &mut Vm, v: Option<Value>, what: &str) -> Res<Option<Account>> {
    let Some(v) = v else { return Ok(None) };
    if let Some(id) = v.fixnum() {
        return Ok(Some(Account::Id(id as u32)));
    }
    let name = vm.to_s(v)?;
    let account = Account::parse(&name);
    let known = if what == "user" {
        account::user_id(&*machine.host, &account)
    } else {
        account::group_id(&*machine.host, &account)
    };
    match known {
        Ok(Some(_)) => Ok(Some(account)),
        _ => {
            let error = if what == "user" { "UserIDNotFound" } else { "GroupIDNotFound" };
            let message = format!(
                "cannot determine {what} id for '{name}', does the {what} exist on this system?"
            );
            machine.row_noted(vm, &message);
            // An earlier resource would have made it, had this been a real run.
            if machine.rows.borrow().why_run {
                machine.row_noted(vm, &format!("Assuming {what} {name} would have been created"));
                return Ok(None);
            }
            raise(vm, error, &message)
        }
    }
}

/// The file whose content is wanted, where it is given as a list of one path.
fn copied(vm: &mut Vm, a: Args) -> Res<Option<PathBuf>> {
    match vm.opt_nil(a, 1) {
        Some(list) if list.is_arr() => {
            let first = vm.heap.arr(list).first().copied();
            first.map(|path| vm.to_s(path).map(PathBuf::from)).transpose()
        }
        _ => Ok(None),
    }
}

/// `FX.file_apply(path, content or [path of a file with it], mode, owner, group, rehearse, [backup dir, copies] | nil,
/// sensitive, follow link, keep content, check the target, remove what is in the way, tell)`:
/// nil when nothing was to do; else the descriptions of what was changed, as lists, when
/// somebody is to be told, and otherwise only that there was something.
fn file_apply(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let copied = copied(vm, a)?;
    let content = if copied.is_some() { None } else { bytes(vm, a, 1)? };
    let mode = vm.opt_nil(a, 2).and_then(Value::fixnum).map(|m| m as u32 & 0o7777);
    let (o, g) = (vm.opt_nil(a, 3), vm.opt_nil(a, 4));
    let owner_of = owner(machine, vm, o, "user")?;
    let group_of = owner(machine, vm, g, "group")?;
    let rehearse = vm.opt(a, 5).is_some_and(Value::truthy);
    let mut backup = Backup::None;
    if let Some(pair) = vm.opt_nil(a, 6)
        && pair.is_arr()
    {
        let pair = vm.heap.arr(pair).clone();
        let dir = vm.to_s(pair[0])?;
        let copies = pair[1].fixnum().unwrap_or(5) as u32;
        backup = Backup::Tree { dir: dir.into(), copies, utc_offset: 0 };
    }
    let sensitive = vm.opt(a, 7).is_some_and(Value::truthy);
    let follow = vm.opt(a, 8).is_some_and(Value::truthy);
    let create_only = vm.opt(a, 9).is_some_and(Value::truthy);
    let check = vm.opt(a, 10).is_some_and(Value::truthy);
    let force = vm.opt(a, 11).is_some_and(Value::truthy);
    let mut file = File::new(Desired {
        path: PathBuf::from(&path),
        content: copied.map(Content::copy).or(content.as_deref().map(Content::bytes)),
        mode: mode.map(Mode::Exact),
        create_mode: Some(0o666 & !vm.umask),
        owner: owner_of,
        group: group_of,
        backup,
        links: if follow { Links::Follow } else { Links::Replace },
        obstruction: Obstruction::Remove,
        create_only,
        checksum: fx_resources::digest::Algorithm::Sha256,
        ..Desired::default()
    });
    let observed = file.observe(&*machine.host);
    if matches!(&observed, Ok(changes) if changes.is_empty()) {
        return Ok(NIL);
    }
    // A file that is as it should be has nothing in its way, so only others are looked at. Where
    // there is nothing yet, only a failure shows that the directory is not there either.
    let nothing = check
        && observed.as_ref().is_ok_and(|changes| {
            changes
                .iter()
                .any(|change| change.property == "ensure" && shown(&change.from) == "absent")
        });
    if check && (rehearse || !nothing) {
        obstacle(machine, vm, &path, force, rehearse, nothing)?;
    }
    let changes = match observed {
        Ok(changes) => changes,
        Err(failure) => return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string()),
    };
    let now = machine.host.now();
    let mut was = (now.secs, now.nanos);
    let absent = changes.iter().any(|change| change.property == "ensure");
    if !absent
        && changes.iter().any(|change| change.property == "content")
        && let Ok(Some(meta)) = machine.host.stat_opt(Path::new(&path))
    {
        was = (meta.mtime.secs, meta.mtime.nanos);
    }
    if !rehearse && let Err(failure) = file.apply(&*machine.host, &changes) {
        if nothing {
            obstacle(machine, vm, &path, force, rehearse, nothing)?;
        }
        return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string());
    }
    if sensitive {
        let hidden = changes.iter().cloned().map(|change| match &*change.property {
            "content" | "ensure" => change.sensitive(),
            _ => change,
        });
        machine.note_changes(&hidden.collect::<Vec<_>>(), rehearse);
    } else {
        machine.note_changes(&changes, rehearse);
    }
    let telling = Telling { path: &path, sensitive, rehearse, was, now: (now.secs, now.nanos) };
    let told = describe(vm, &telling, &changes);
    if !vm.opt(a, 12).is_some_and(Value::truthy) {
        for lines in told {
            machine.row_changed(vm, lines);
        }
        return Ok(Value::bool(true));
    }
    let mut lists = Vec::new();
    for lines in told {
        let lines = lines.into_iter().map(|line| vm.str(line)).collect();
        lists.push(vm.arr(lines));
    }
    Ok(vm.arr(lists))
}

/// `FX.check_target(path, remove what is in the way, rehearse)`.
fn check_target(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let force = vm.opt(a, 1).is_some_and(Value::truthy);
    let rehearse = vm.opt(a, 2).is_some_and(Value::truthy);
    obstacle(machine, vm, &path, force, rehearse, false)?;
    Ok(NIL)
}

/// `FX.check_mount_point(path)`: fails where a link of somebody else leads to it.
fn check_mount_point(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    match fx_resources::mount::check_point(&*machine.host, Path::new(&path)) {
        Ok(()) => Ok(NIL),
        Err(failure) => vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string()),
    }
}

/// Fails when a file cannot stand at a path: no directory around it, or something else there.
/// What is known to be absent is not looked for again.
fn obstacle(
    machine: &Machine,
    vm: &mut Vm,
    path: &str,
    force: bool,
    rehearse: bool,
    absent: bool,
) -> Res<()> {
    let at = Path::new(path);
    let look = |vm: &mut Vm, at: &Path, found: fx_host::Result<Option<fx_host::Meta>>| {
        found.or_else(|error| vm.host_error(&error, &at.to_string_lossy()))
    };
    let there = if absent { None } else { look(vm, at, machine.host.lstat_opt(at))? };
    match there.map(|meta| meta.kind) {
        None => {
            let parent = at.parent().unwrap_or(Path::new("/"));
            let there = look(vm, parent, machine.host.stat_opt(parent))?;
            if there.is_some_and(|meta| meta.is_dir()) {
                return Ok(());
            }
            let message = format!("Parent directory {} does not exist.", parent.display());
            if rehearse {
                machine.row_noted(vm, &message);
                let assumed =
                    format!("Assuming directory {} would have been created", parent.display());
                machine.row_noted(vm, &assumed);
                return Ok(());
            }
            machine.row_noted(vm, &message);
            raise(vm, "EnclosingDirectoryDoesNotExist", &message)
        }
        Some(Kind::File | Kind::Symlink) => Ok(()),
        Some(_) if force => Ok(()),
        Some(kind) => {
            let what = if kind == Kind::Directory { "a directory" } else { "not a regular file" };
            let message =
                format!("File {path} exists, but is {what}, set force_unlink to true to remove");
            machine.row_noted(vm, &message);
            raise(vm, "FileTypeMismatch", &message)
        }
    }
}

fn shown(value: &fx_value::Value) -> String {
    match value.as_bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => value.to_string(),
    }
}

fn mode_text(text: &str) -> String {
    if text.is_empty() || text == "absent" { String::new() } else { format!("{text:0>4}") }
}

/// What the description of a file's changes needs besides them.
struct Telling<'a> {
    path: &'a str,
    sensitive: bool,
    rehearse: bool,
    /// When the old content was written, and now.
    was: (i64, u32),
    now: (i64, u32),
}

/// The beginning of a digest; what has none is shown as it is.
fn short(label: &fx_value::Value) -> String {
    let label = shown(label);
    match label.strip_prefix("{sha256}") {
        Some(digest) => digest.chars().take(6).collect(),
        None => label,
    }
}

/// The changes in the words of Chef's formatter.
fn describe(vm: &mut Vm, telling: &Telling<'_>, changes: &[Change]) -> Vec<Vec<String>> {
    let path = telling.path;
    let created = changes.iter().any(|change| change.property == "ensure");
    let mut out = Vec::new();
    if created {
        out.push(vec![format!("create new file {path}")]);
    }
    let content_changed = changes.iter().find(|change| change.property == "content");
    // A file that is not there has no content to change, as long as nothing is done.
    let rehearsed = created && telling.rehearse;
    if let Some(change) = content_changed.filter(|_| !rehearsed) {
        let from = if created { "none".to_owned() } else { short(&change.from) };
        let to = short(&change.to);
        let mut lines = vec![format!("update content in file {path} from {from} to {to}")];
        if telling.sensitive {
            out.push(lines);
            lines = vec!["suppressed sensitive resource".into()];
        } else if let Some(Detail::Content { old, new }) = &change.detail {
            let name = Path::new(path);
            let beside = name.file_name().unwrap_or_default().to_string_lossy();
            let temporary = name.with_file_name(format!(".chef-{beside}"));
            let before = Side { name: path, at: telling.was };
            let after = Side { name: &temporary.to_string_lossy(), at: telling.now };
            lines.extend(crate::diff::lines(vm, (before, old), (after, new)));
        } else {
            lines.push("(file sizes exceed 10000000 bytes, diff output suppressed)".into());
        }
        out.push(lines);
    }
    for (property, word) in [("mode", "mode"), ("owner", "owner"), ("group", "group")] {
        let Some(change) = changes.iter().find(|change| change.property == property) else {
            continue;
        };
        let (mut from, mut to) = (shown(&change.from), shown(&change.to));
        if property == "mode" {
            (from, to) = (mode_text(&from), mode_text(&to));
        }
        let from = if created || from == "absent" { String::new() } else { from };
        out.push(vec![format!("change {word} from '{from}' to '{to}'")]);
    }
    out
}

/// `FX.access(path, mode, owner, group, rehearse, create as directory)`: permissions of what
/// is there; the descriptions of what was changed.
fn access(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let path = text(vm, a, 0)?.unwrap_or_default();
    let path = PathBuf::from(path);
    let mode = vm.opt_nil(a, 1).and_then(Value::fixnum).map(|m| m as u32 & 0o7777);
    let (o, g) = (vm.opt_nil(a, 2), vm.opt_nil(a, 3));
    let owner_of = owner(machine, vm, o, "user")?;
    let group_of = owner(machine, vm, g, "group")?;
    let rehearse = vm.opt(a, 4).is_some_and(Value::truthy);
    let fresh = vm.opt(a, 5).is_some_and(Value::truthy);
    let host = &*machine.host;
    let meta =
        host.stat_opt(&path).or_else(|error| vm.host_error(&error, &path.to_string_lossy()))?;
    let mut out = Vec::new();
    let mut failed = None;
    let uid = owner_of.as_ref().and_then(|o| account::user_id(host, o).ok().flatten());
    let gid = group_of.as_ref().and_then(|g| account::group_id(host, g).ok().flatten());
    let was = |name: String| if fresh { String::new() } else { name };
    if let (Some(want), Some(account)) = (uid, &owner_of)
        && meta.as_ref().is_none_or(|m| m.uid != want)
    {
        let old =
            meta.as_ref().map(|m| shown(&account::user_label(host, m.uid))).unwrap_or_default();
        out.push(format!("change owner from '{}' to '{account}'", was(old)));
    }
    if let (Some(want), Some(account)) = (gid, &group_of)
        && meta.as_ref().is_none_or(|m| m.gid != want)
    {
        let old =
            meta.as_ref().map(|m| shown(&account::group_label(host, m.gid))).unwrap_or_default();
        out.push(format!("change group from '{}' to '{account}'", was(old)));
    }
    if !rehearse && !out.is_empty() {
        failed = host.set_owner(&path, uid, gid).err();
    }
    if let Some(want) = mode
        && (fresh || meta.as_ref().is_none_or(|m| m.mode & 0o7777 != want))
    {
        let old = meta.as_ref().map(|m| format!("{:04o}", m.mode & 0o7777)).unwrap_or_default();
        out.insert(0, format!("change mode from '{}' to '{want:04o}'", was(old)));
        if !rehearse && failed.is_none() {
            failed = host.set_mode(&path, want).err();
        }
    }
    if let Some(error) = failed {
        return vm.fail(fx_ruby::object::c::RUNTIME_ERROR, error.to_string());
    }
    if out.is_empty() {
        return Ok(NIL);
    }
    let list = out.into_iter().map(|line| vm.str(line)).collect();
    Ok(vm.arr(list))
}
