//! Users through the account files themselves, under their locks, as useradd would leave
//! them. The home directory is made from `/etc/skel`.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure};
use fx_host::{Act, Look, WriteOptions};

use super::{Desired, Expiry, Seen};
use crate::account::{self, Account};
use crate::directory;
use crate::group;
use crate::shadow::{self, GROUP, GSHADOW, PASSWD, SHADOW, Table, field, members};
use crate::wanted;

struct Tables {
    users: Table,
    passwords: Table,
    groups: Table,
    group_passwords: Table,
}

pub(super) fn apply(
    host: &dyn Act,
    desired: &Desired,
    seen: &Seen,
    changes: &[Change],
) -> Result<(), Failure> {
    let home = shadow::locked(host, || {
        let mut tables = Tables {
            users: Table::read(host, PASSWD)?,
            passwords: Table::read(host, SHADOW)?,
            groups: Table::read(host, GROUP)?,
            group_passwords: Table::read(host, GSHADOW)?,
        };
        let home = if desired.absent {
            remove(desired, &mut tables);
            None
        } else {
            Some(set(host, desired, seen, changes, &mut tables)?)
        };
        // The row that makes an account usable comes last, and goes first.
        let mut order = [&tables.group_passwords, &tables.groups, &tables.passwords, &tables.users];
        if desired.absent {
            order.reverse();
        }
        order.iter().try_for_each(|table| table.write(host))?;
        Ok(home)
    })?;
    if !desired.manage_home {
        return Ok(());
    }
    match home {
        None if seen.home != Path::new("/") && host.exists(&seen.home)? => {
            directory::remove_tree(host, &seen.home)
        }
        None => Ok(()),
        Some(home) => make_home(host, seen, &home),
    }
}

fn remove(desired: &Desired, tables: &mut Tables) {
    tables.users.remove(&desired.name);
    tables.passwords.remove(&desired.name);
    join_groups(tables, &desired.name, &[]);
    // The group of one's own goes too, unless it has members or is somebody's primary one.
    if let Some(row) = tables.groups.row(&desired.name) {
        let gid = field(&row, 2);
        let used = tables.users.rows().any(|user| field(&user, 3) == gid);
        if !used && members(field(&row, 3)).is_empty() {
            tables.groups.remove(&desired.name);
            tables.group_passwords.remove(&desired.name);
        }
    }
}

// Makes the user a member of exactly these groups.
fn join_groups(tables: &mut Tables, user: &str, wanted: &[String]) {
    let rows: Vec<Vec<String>> = tables.groups.rows().collect();
    for row in rows {
        let mut list = members(field(&row, 3));
        let is_in = list.iter().any(|member| member == user);
        let should = wanted.iter().any(|group| group == field(&row, 0));
        if is_in == should {
            continue;
        }
        if should {
            list.push(user.to_owned());
        } else {
            list.retain(|member| member != user);
        }
        let (name, gid) = (field(&row, 0), field(&row, 2));
        group::add_row(&mut tables.groups, &mut tables.group_passwords, name, gid, &list.join(","));
    }
}

struct Home {
    path: PathBuf,
    uid: u32,
    gid: u32,
}

fn set(
    host: &dyn Look,
    desired: &Desired,
    seen: &Seen,
    changes: &[Change],
    tables: &mut Tables,
) -> Result<Home, Failure> {
    let name = &desired.name;
    let creates = wanted(changes, "ensure");
    let is_due = |property: &str| creates || wanted(changes, property);
    let old = tables.users.row(name).unwrap_or_default();
    if old.is_empty() && !creates {
        // A name service knows the user; a local row would hide it.
        return Err(Failure::new(format!("user '{name}' is not in '{PASSWD}'")));
    }
    let number = |at: usize| field(&old, at).parse::<u32>().ok();
    let uid = match (desired.uid.filter(|_| is_due("uid")), number(2)) {
        (Some(uid), _) => uid,
        (None, Some(uid)) => uid,
        (None, None) => {
            let used = tables.users.rows().filter_map(|row| field(&row, 2).parse().ok());
            shadow::free_id(host, "UID", desired.system, &used.collect::<Vec<u32>>())?
        }
    };
    let clash = tables.users.rows().any(|row| {
        field(&row, 2).parse() == Ok(uid) && field(&row, 0) != name && !desired.non_unique
    });
    if clash {
        return Err(Failure::new(format!("uid {uid} of user '{name}' is taken")));
    }
    let gid = match (desired.gid.as_ref().filter(|_| is_due("gid")), number(3)) {
        (Some(Account::Id(gid)), _) => *gid,
        (Some(account), _) => account::known_group(host, account)?,
        (None, Some(gid)) => gid,
        (None, None) => own_group(host, desired, uid, tables)?,
    };
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let pick = |value: Option<String>, at: usize, default: &str| {
        let old = (!old.is_empty()).then(|| field(&old, at).to_owned());
        value.or(old).unwrap_or_else(|| default.to_owned())
    };
    let comment = pick(desired.comment.clone().filter(|_| is_due("comment")), 4, "");
    let home = desired.home.as_ref().filter(|_| is_due("home")).map(text);
    let home = pick(home, 5, &format!("/home/{name}"));
    let shell = desired.shell.as_ref().filter(|_| is_due("shell")).map(text);
    let shell = pick(shell, 6, "/bin/sh");
    let hash = if old.is_empty() { "x" } else { field(&old, 1) };
    let (uid_text, gid_text) = (uid.to_string(), gid.to_string());
    let row = [name, hash, &uid_text, &gid_text, &comment, &home, &shell];
    tables.users.set(&row.map(str::to_owned));
    if tables.passwords.is_present() {
        set_password(host, desired, &is_due, tables);
    } else if desired.password.is_some() && is_due("password") {
        return Err(Failure::new(format!("there is no '{SHADOW}' for the password of '{name}'")));
    }
    if let Some(groups) = seen.merged.as_ref().filter(|_| is_due("groups")) {
        for group in groups {
            if tables.groups.row(group).is_none() {
                return Err(Failure::new(format!("could not find group '{group}'")));
            }
        }
        join_groups(tables, name, groups);
    }
    Ok(Home { path: home.into(), uid, gid })
}

fn own_group(
    host: &dyn Look,
    desired: &Desired,
    uid: u32,
    tables: &mut Tables,
) -> Result<u32, Failure> {
    let row = tables.groups.row(&desired.name).unwrap_or_default();
    if let Ok(gid) = field(&row, 2).parse() {
        return Ok(gid);
    }
    let taken = tables.groups.rows().any(|row| field(&row, 2).parse() == Ok(uid));
    let gid = if taken { group::free_gid(host, &tables.groups, desired.system)? } else { uid };
    let Tables { groups, group_passwords, .. } = tables;
    group::add_row(groups, group_passwords, &desired.name, &gid.to_string(), "");
    Ok(gid)
}

fn set_password(
    host: &dyn Look,
    desired: &Desired,
    is_due: &dyn Fn(&str) -> bool,
    tables: &mut Tables,
) {
    let today = host.now().secs.div_euclid(86_400).to_string();
    let mut row = tables.passwords.row(&desired.name).unwrap_or_else(|| {
        [&desired.name, "!", &today, "0", "99999", "7", "", "", ""].map(str::to_owned).to_vec()
    });
    row.resize(9, String::new());
    if let Some(password) = desired.password.as_ref().filter(|_| is_due("password")) {
        password.reveal().clone_into(&mut row[1]);
        row[2] = today;
    }
    if let Some(locked) = desired.locked {
        let bare = row[1].trim_start_matches('!').to_owned();
        row[1] = if locked { format!("!{bare}") } else { bare };
    }
    let ages = [
        (3, "password_min_age", desired.min_age),
        (4, "password_max_age", desired.max_age),
        (5, "password_warn_days", desired.warn_days),
    ];
    for (at, property, value) in ages {
        if let Some(value) = value.filter(|_| is_due(property)) {
            row[at] = value.to_string();
        }
    }
    if let Some(expiry) = desired.expiry.filter(|_| is_due("expiry")) {
        row[7] = Expiry::text(expiry);
    }
    tables.passwords.set(&row);
}

// A home that is there already is left as it is; an old one is moved.
fn make_home(host: &dyn Act, seen: &Seen, home: &Home) -> Result<(), Failure> {
    if host.exists(&home.path)? {
        return Ok(());
    }
    directory::make_parents(host, &home.path, 0o755)?;
    let has_old = !seen.home.as_os_str().is_empty() && seen.home != home.path;
    if has_old && host.exists(&seen.home)? {
        return Ok(host.rename(&seen.home, &home.path)?);
    }
    host.make_dir(&home.path, 0o755)?;
    host.set_owner(&home.path, Some(home.uid), Some(home.gid))?;
    let skeleton = Path::new("/etc/skel");
    if host.stat_opt(skeleton)?.is_none() {
        return Ok(());
    }
    for (source, meta) in directory::walk(host, skeleton)? {
        let inner = source.strip_prefix(skeleton).unwrap_or(&source);
        let path = home.path.join(inner);
        let (uid, gid) = (Some(home.uid), Some(home.gid));
        if meta.is_dir() {
            host.make_dir(&path, meta.mode)?;
            host.set_owner(&path, uid, gid)?;
        } else if meta.is_symlink() {
            host.symlink(&host.read_link(&source)?, &path)?;
            host.set_owner(&path, uid, gid)?;
        } else if meta.is_file() {
            let options = WriteOptions { mode: Some(meta.mode), uid, gid, mtime: None };
            host.copy_file(&source, &path, &options)?;
        }
    }
    Ok(())
}
