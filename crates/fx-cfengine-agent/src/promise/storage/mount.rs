//! mount: a file system mounted or not, and its line in fstab(5).
//!
//! What was added to fstab is mounted by `mount -va` when all storage promises of a pass
//! have been looked at, as the original does.

use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{decode, encode, os, path};
use fx_engine::{Change, Done, Failure, Level, Request, ResourceId, Target};
use fx_host::{Kind, WriteOptions};
use fx_resources::mount::dialect::{Call, Dialect};
use fx_resources::mount::table::{self, FSTAB, Row};
use fx_resources::text;

use crate::action::Action;
use crate::agent::Agent;
use crate::change::{self, ABSENT, value};

/// How the original writes a line and mounts.
const DIALECT: Dialect = Dialect {
    separator: " \t ",
    mount: "/bin/mount",
    umount: "/bin/umount",
    limit: Duration::from_mins(1),
    c_locale: false,
    one_stream: true,
};

/// What the promise asks for, in the words of its body.
struct Wanted {
    kind: String,
    /// `server:source`, or the source alone.
    device: String,
    source: String,
    options: String,
    edit_fstab: bool,
}

impl Wanted {
    fn of(promise: &Expanded) -> Wanted {
        let text = |name: &str| promise.scalar(name).map(ToString::to_string).unwrap_or_default();
        let (server, source) = (text("mount_server"), text("mount_source"));
        let kind = text("mount_type");
        // These two name their server inside the path.
        let joined = matches!(kind.as_str(), "panfs" | "cifs");
        let device = match server.as_str() {
            "" => source.clone(),
            server if joined => format!("{server}{source}"),
            server => format!("{server}:{source}"),
        };
        let options = promise.list("mount_options").map(|list| list.join(",")).unwrap_or_default();
        let options = if options.is_empty() { "defaults".to_owned() } else { options };
        let edit_fstab = promise.bool("edit_fstab").unwrap_or(false);
        Wanted { kind, device, source, options, edit_fstab }
    }

    fn row(&self, name: &str) -> Row {
        Row {
            device: encode(&self.device).into_owned(),
            point: encode(name).into_owned(),
            fstype: Some(encode(&self.kind).into_owned()),
            options: Some(encode(&self.options).into_owned()),
            ..Row::default()
        }
    }
}

/// Keeps the mount part of a storage promise.
pub(super) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    log!(ctx, Verbose, "Verifying mounted file systems on '{name}'");
    if ctx.host().euid() != 0 {
        let text = "Only root can mount filesystems";
        return ctx.settle(Level::Error, Outcome::Interrupted, promise, text);
    }
    if let Err(refused) = fx_resources::mount::check_point(ctx.host(), &path(&name)) {
        return ctx.settle(Level::Error, Outcome::Failed, promise, &refused.to_string());
    }
    let wanted = Wanted::of(promise);
    let unmount = promise.bool("unmount").unwrap_or(false);
    let mut result = Outcome::Kept;
    match (mounted_as_promised(ctx, &name, &wanted), unmount) {
        (true, false) => {
            let text = format!("Filesystem '{name}' seems to be mounted as promised");
            ctx.settle(Level::Info, Outcome::Kept, promise, &text)
        }
        (true, true) => {
            let changes = [state(&name, true, false)];
            if ctx.may(promise, &mut result, &changes, &format!("unmount '{name}'")) {
                result = result.merge(take_off(ctx, promise, &changes));
            }
            if wanted.edit_fstab {
                remove_line(ctx, promise, &mut result);
            }
            result
        }
        (false, true) => {
            if wanted.edit_fstab {
                remove_line(ctx, promise, &mut result);
            }
            result
        }
        (false, false) => {
            make_directory(ctx, &name);
            if wanted.edit_fstab {
                add_line(ctx, promise, &wanted, &mut result);
            } else {
                let text = format!(
                    "Filesystem '{name}' was not mounted as promised, and no edits were promised in '{FSTAB}'"
                );
                result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
                let changes = [state(&name, false, true)];
                if ctx.may(promise, &mut result, &changes, &format!("mount '{name}'")) {
                    result = result.merge(put_on(ctx, promise, &wanted, &changes));
                }
            }
            result
        }
    }
}

fn state(name: &str, from: bool, to: bool) -> Change {
    let word = |mounted: bool| if mounted { "mounted" } else { "unmounted" };
    Change::of(Target::mount(os(name)), "ensure", word(from), word(to))
}

/// Mounts what was added to fstab, as a step of its own.
pub(crate) fn finish(ctx: &mut Agent<'_>) {
    if !std::mem::take(&mut ctx.mount_all) || ctx.config.dry_run {
        return;
    }
    log!(ctx, Verbose, "Mounting all filesystems");
    let mut request = Request::new(ResourceId::new("storage", FSTAB), "mount all");
    request.phase = format!("pass {}", ctx.pass).into();
    let attempt = ctx.run.open(request);
    attempt.open_ended();
    let spec = DIALECT.command(Call::All);
    let line = spec.display();
    let done = ctx.make(&[change::run(&line)], |act| {
        let ended = act.run(&spec)?;
        for line in decode(&ended.stdout).lines() {
            ctx.verbose(line);
        }
        Failure::of_command(&line, ended.exit, &ended.stdout).map_or(Ok(()), Err)
    });
    attempt.close(match done {
        Ok(Done::Made(())) => fx_engine::Outcome::Repaired,
        Ok(Done::Withheld) => fx_engine::Outcome::WouldRepair,
        Err(failure) => {
            match &failure {
                Failure::Command { exit, .. } => {
                    ctx.error(&format!("'{line}' ended with {}", exit.code()));
                }
                other => ctx.error(&other.to_string()),
            }
            failure.into()
        }
    });
}

fn mounted_as_promised(ctx: &Agent<'_>, name: &str, wanted: &Wanted) -> bool {
    let table = table::mounted(ctx.host()).unwrap_or_default();
    // What was mounted last on a directory hides the rest.
    let found = table.iter().rev().find(|row| *row.point == *encode(name));
    let found = found.map(|row| decode(&row.device));
    let Some(device) = found else {
        log!(ctx, Verbose, "File system '{name}' seems not to be mounted correctly");
        return false;
    };
    let source = device.split_once(':').map_or(device.as_str(), |(_, source)| source);
    if !wanted.source.is_empty() && source != wanted.source && device != wanted.device {
        ctx.info(&format!(
            "A different file system '{device}' is mounted on '{name}' than what is promised"
        ));
        return false;
    }
    log!(ctx, Verbose, "File system '{device}' seems to be mounted correctly");
    true
}

fn make_directory(ctx: &Agent<'_>, name: &str) {
    let ends = name.char_indices().filter(|(at, c)| *c == '/' && *at > 0).map(|(at, _)| at);
    for end in ends.chain([name.len()]) {
        let dir = &name[..end];
        if ctx.host().lstat(&path(dir)).is_err() {
            // Where it cannot be made, mounting says why.
            let made = [change::created(dir, Kind::Directory)];
            let _made = ctx.make(&made, |act| act.make_dir(&path(dir), 0o755));
        }
    }
}

/// How a mount failed.
enum Unmounted {
    /// Somebody uses what is there.
    Busy,
    Because(String),
}

fn run(ctx: &Agent<'_>, changes: &[Change], call: Call<'_>) -> Result<(), Unmounted> {
    let spec = DIALECT.command(call);
    let done = ctx.make(changes, |act| {
        let ended = act.run(&spec)?;
        Failure::of_command(&spec.display(), ended.exit, &ended.stdout).map_or(Ok(()), Err)
    });
    match done {
        Ok(_) => Ok(()),
        // The tool has no other sign for it than its words.
        Err(Failure::Command { output, .. })
            if output.contains("busy") || output.contains("Busy") =>
        {
            Err(Unmounted::Busy)
        }
        Err(Failure::Command { output, .. }) => Err(Unmounted::Because(output)),
        Err(failure) => Err(Unmounted::Because(failure.to_string())),
    }
}

fn put_on(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    changes: &[Change],
) -> Outcome {
    let name = &promise.promiser;
    let mut row = wanted.row(name);
    // A remote one shows its type by its form; a local one need not.
    let is_typed = matches!(wanted.kind.as_str(), "panfs" | "cifs")
        || (!wanted.kind.is_empty() && wanted.device == wanted.source);
    row.fstype = row.fstype.filter(|_| is_typed);
    concluded(ctx, promise, run(ctx, changes, Call::Row(&row)), ("Mounting", "mounted"))
}

fn take_off(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, changes: &[Change]) -> Outcome {
    let done = run(ctx, changes, Call::Unmount(&encode(&promise.promiser)));
    concluded(ctx, promise, done, ("Unmounting", "unmounted"))
}

fn concluded(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    done: Result<(), Unmounted>,
    (doing, past): (&str, &str),
) -> Outcome {
    let name = &promise.promiser;
    let (level, outcome, text) = match done {
        Ok(()) => (Level::Info, Outcome::Repaired, format!("{doing} '{name}' to keep promise")),
        Err(Unmounted::Busy) => {
            let text = format!("The device under '{name}' cannot be {past}");
            (Level::Info, Outcome::Interrupted, text)
        }
        Err(Unmounted::Because(why)) => {
            (Level::Error, Outcome::Failed, format!("{doing} '{name}' failed: {why}"))
        }
    };
    ctx.settle(level, outcome, promise, &text)
}

fn fstab(ctx: &Agent<'_>) -> Vec<u8> {
    ctx.host().read(&path(FSTAB)).unwrap_or_default()
}

fn save(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, changes: &[Change], table: &[u8]) -> bool {
    match ctx.make(changes, |act| act.write(&path(FSTAB), table, &WriteOptions::default())) {
        Ok(_) => true,
        Err(failure) => {
            ctx.settle(Level::Error, Outcome::Failed, promise, &failure.to_string());
            false
        }
    }
}

// A line of the table that comes or is removed.
fn entry(name: &str, from: &str, to: &str) -> Change {
    Change::of(Target::mount(os(name)), "fstab", value(from), value(to))
}

fn add_line(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wanted: &Wanted, result: &mut Outcome) {
    let name = Rc::clone(&promise.promiser);
    log!(ctx, Verbose, "Verifying '{name}' in '{FSTAB}'");
    let table = fstab(ctx);
    let is_meant = |row: &Row| *row.point == *encode(&name);
    if ctx.action(promise) == Action::Fix {
        ctx.mount_all = true;
    } else {
        ctx.withhold(&[state(&name, false, true)]);
    }
    if text::lines(&table).filter_map(Row::parse).any(|row| is_meant(&row)) {
        return;
    }
    let device = &wanted.device;
    let should = format!("add file system '{device}' to '{FSTAB}'");
    let line = wanted.row(&name).line(DIALECT.separator);
    let changes = [entry(&name, ABSENT, &decode(&line))];
    if !ctx.may(promise, result, &changes, &should) {
        return;
    }
    if save(ctx, promise, &changes, &table::with_line(&table, &line, &is_meant)) {
        let text = format!("Adding file system '{device}' to '{FSTAB}'");
        *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
    } else {
        *result = result.merge(Outcome::Failed);
    }
}

fn remove_line(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, result: &mut Outcome) {
    let name = Rc::clone(&promise.promiser);
    let table = fstab(ctx);
    let is_meant = |row: &Row| *row.point == *encode(&name);
    let changes: Vec<Change> = text::lines(&table)
        .filter(|line| Row::parse(line).is_some_and(|row| is_meant(&row)))
        .map(|line| entry(&name, &decode(line), ABSENT))
        .collect();
    if changes.is_empty() {
        return;
    }
    let should = format!("delete file system mounted on '{name}' from '{FSTAB}'");
    if ctx.may(promise, result, &changes, &should) {
        if save(ctx, promise, &changes, &table::without(&table, &is_meant)) {
            let text = format!("Deleting file system mounted on '{name}'");
            *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
        } else {
            *result = result.merge(Outcome::Failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A directory with a blank used to be added again by each run.
    #[test]
    fn lines_are_those_of_the_original_and_are_found_again() {
        let wanted = Wanted {
            kind: "nfs".to_owned(),
            device: "server:/export".to_owned(),
            source: "/export".to_owned(),
            options: "defaults".to_owned(),
            edit_fstab: true,
        };
        let table = [
            ("/mnt", "server:/export \t /mnt \t nfs \t defaults"),
            ("/my disk", "server:/export \t /my\\040disk \t nfs \t defaults"),
        ];
        for (name, expected) in table {
            let row = wanted.row(name);
            let line = row.line(DIALECT.separator);
            assert_eq!(line, expected.as_bytes());
            assert_eq!(Row::parse(&line), Some(row));
        }
    }
}
