//! users: local accounts by useradd, usermod, userdel and chpasswd.
//!
//! As the original does, only the local databases are looked at, an account is locked by a
//! `!` before its hash and an expiry date long past, and home directories are left to the
//! `home_bundle`. Commands are started without a shell.

use std::collections::BTreeSet;
use std::rc::Rc;

use fx_crypto::password::{Refused, crypt};
use fx_engine::{Change, Failure, Level, Target};
use fx_host::{Exit, Spec};

use crate::agent::action::Action;
use crate::agent::change::{ABSENT, value};
use crate::agent::promise::commands::in_environment;
use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::outcome::Outcome;
use crate::text::{Str, decode, encode, os, path};

const USERADD: &str = "/usr/sbin/useradd";
const USERMOD: &str = "/usr/sbin/usermod";
const USERDEL: &str = "/usr/sbin/userdel";
const CHPASSWD: &str = "/usr/sbin/chpasswd";

/// The day after the first: an account that expired then is locked.
const LONG_AGO: &str = "1970-01-02";

/// Keeps a users promise.
pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let Some(wanted) = Wanted::read(ctx, promise) else {
        return ctx.settle_quietly(Outcome::Failed, promise);
    };
    if !ctx.acquire_alone(promise, &format!("user-{}-{}", promise.promiser, wanted.policy)) {
        return Outcome::Skipped;
    }
    let outcome = verify(ctx, promise, &wanted);
    let text = match outcome {
        Outcome::Kept => "User promise kept",
        Outcome::Repaired => "User promise repaired",
        _ => "User promise not kept",
    };
    ctx.settle(Level::Verbose, outcome, promise, text)
}

/// What is promised.
struct Wanted {
    name: Str,
    policy: Str,
    uid: Option<Str>,
    description: Option<Str>,
    primary: Option<Str>,
    secondary: Option<Vec<Str>>,
    home: Option<Str>,
    shell: Option<Str>,
    /// The password, and whether it is a hash.
    password: Option<(Str, bool)>,
}

impl Wanted {
    fn read(ctx: &Context<'_>, promise: &Expanded) -> Option<Wanted> {
        let text = |name: &str| promise.scalar(name).cloned();
        let name = Rc::clone(&promise.promiser);
        let Some(policy) = text("policy") else {
            ctx.error(&format!("No policy specified for 'users' promise '{name}'"));
            ctx.log_place(Level::Error, &promise.promise);
            return None;
        };
        let password = match (text("data").filter(|data| !data.is_empty()), text("format")) {
            (None, None) => None,
            (Some(data), Some(format)) => Some((data, &*format == "hash")),
            _ => {
                ctx.error(&format!(
                    "Both 'data' and 'format' must be specified in password body for 'users' promise '{name}'"
                ));
                ctx.log_place(Level::Error, &promise.promise);
                return None;
            }
        };
        Some(Wanted {
            name,
            policy,
            uid: text("uid"),
            description: text("description"),
            primary: text("group_primary").filter(|group| !group.is_empty()),
            secondary: promise
                .list("groups_secondary")
                .map(|list| list.into_iter().filter(|name| &**name != "cf_null").collect()),
            home: text("home_dir"),
            shell: text("shell"),
            password,
        })
    }

    fn locked(&self) -> bool {
        &*self.policy == "locked"
    }
}

/// Lines of a database whose first field is a name.
fn database(ctx: &Context<'_>, file: &str) -> Option<Vec<Vec<String>>> {
    match ctx.host().read(&path(file)) {
        Ok(bytes) => Some(
            decode(&bytes)
                .lines()
                .map(|line| line.split(':').map(str::to_owned).collect::<Vec<_>>())
                .filter(|fields| fields.len() > 1)
                .collect(),
        ),
        Err(error) => {
            ctx.error(&format!("Could not open '{file}': {}", crate::load::reason(&error)));
            None
        }
    }
}

fn entry(database: Vec<Vec<String>>, name: &str) -> Option<Vec<String>> {
    database.into_iter().find(|fields| fields[0] == name)
}

/// The hash of an account, from the shadow database or, without that, from passwd.
fn hash_of(ctx: &Context<'_>, account: &[String]) -> Option<String> {
    let field = |fields: &[String]| fields.get(1).cloned().unwrap_or_default();
    if ctx.host().stat(&path("/etc/shadow")).is_err() {
        return Some(field(account));
    }
    match entry(database(ctx, "/etc/shadow")?, &account[0]) {
        Some(fields) => Some(field(&fields)),
        None => {
            ctx.error("Could not find user when checking password.");
            None
        }
    }
}

fn verify(ctx: &mut Context<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Outcome {
    let name = &wanted.name;
    let Some(accounts) = database(ctx, "/etc/passwd") else {
        ctx.error("Could not get information from user database.");
        return Outcome::Kept;
    };
    let account = entry(accounts, name);
    let (done, verb, past) = match (&*wanted.policy, account) {
        ("absent", None) => return Outcome::Kept,
        ("absent", Some(_)) => (remove(ctx, promise, wanted), "remove", "Removed"),
        (_, None) => (create(ctx, promise, wanted), "create", "Created"),
        (_, Some(account)) => match Changes::needed(ctx, wanted, &account) {
            None => (None, "modify", "Modified"),
            Some(changes) if changes.none() => return Outcome::Kept,
            Some(changes) => {
                (modify(ctx, promise, wanted, &account, &changes), "modify", "Modified")
            }
        },
    };
    if done.is_some() {
        ctx.info(&format!("{past} user '{name}'"));
        Outcome::Repaired
    } else {
        ctx.error(&format!("Failed to {verb} user '{name}'"));
        Outcome::Failed
    }
}

fn only_warns(ctx: &Context<'_>, promise: &Expanded, changes: &[Change], text: &str) -> bool {
    if ctx.action(promise) == Action::Fix {
        return false;
    }
    ctx.withhold(changes);
    ctx.warning(text);
    true
}

fn change(name: &str, property: &'static str, from: &str, to: &str) -> Change {
    Change::of(Target::user(os(name)), property, value(from), value(to))
}

fn execute(
    ctx: &Context<'_>,
    name: &str,
    changes: &[Change],
    argv: &[String],
    doing: &str,
) -> Option<()> {
    // Shown as the shell would be given it.
    let mut line = String::new();
    let mut quoted = false;
    for word in argv {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&if quoted { format!("\"{word}\"") } else { word.clone() });
        quoted = matches!(word.as_str(), "-u" | "-c" | "-g" | "-G" | "-d" | "-s");
    }
    let mut capital = doing.to_owned();
    capital[..1].make_ascii_uppercase();
    log!(ctx, Verbose, "{capital} user '{name}'. (command: '{line}')");
    let spec = in_environment(ctx, Spec::argv(argv.iter().map(|word| os(word))));
    ctx.show_now();
    let done = ctx.make(changes, |act| {
        let ended = act.run(&spec)?;
        // It speaks for itself.
        if !ended.stdout.is_empty() {
            ctx.print(decode(&ended.stdout).trim_end_matches('\n'));
        }
        if !ended.stderr.is_empty() {
            ctx.aside(decode(&ended.stderr).trim_end_matches('\n'));
        }
        Failure::of_command(&line, ended.exit, &ended.stderr).map_or(Ok(()), Err)
    });
    match done {
        Ok(done) => done.made(),
        Err(Failure::Command { .. }) => {
            ctx.error(&format!(
                "Command returned error while {doing} user '{name}'. (Command line: '{line}')"
            ));
            None
        }
        Err(failure) => {
            ctx.error(&failure.to_string());
            None
        }
    }
}

fn remove(ctx: &mut Context<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Option<()> {
    let name = &wanted.name;
    let gone = [change(name, "ensure", "present", ABSENT)];
    if only_warns(ctx, promise, &gone, &format!("Need to remove user '{name}'.")) {
        return None;
    }
    execute(ctx, name, &gone, &[USERDEL.into(), name.to_string()], "removing")
}

fn create(ctx: &mut Context<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Option<()> {
    let name = &wanted.name;
    if name.is_empty() {
        return None;
    }
    let mut argv: Vec<String> = vec![USERADD.into()];
    let mut option = |flag: &str, value: Option<&Str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            argv.extend([flag.to_owned(), value.to_string()]);
        }
    };
    option("-u", wanted.uid.as_ref());
    option("-c", wanted.description.as_ref());
    option("-g", wanted.primary.as_ref());
    let groups: Option<Str> = wanted.secondary.as_ref().map(|groups| groups.join(",").into());
    option("-G", groups.as_ref());
    option("-d", wanted.home.as_ref());
    option("-s", wanted.shell.as_ref());
    // Home directories are the home_bundle's work.
    argv.extend(["-M".to_owned(), name.to_string()]);
    let made = [change(name, "ensure", ABSENT, "present")];
    if only_warns(ctx, promise, &made, &format!("Need to create user '{name}'.")) {
        return None;
    }
    execute(ctx, name, &made, &argv, "creating")?;
    // useradd leaves '!', which would count as locked; no password matches 'x'.
    set_hash(ctx, name, &Hash { old: Some("!"), new: "x" })?;
    if wanted.locked() {
        set_locked(ctx, name, Some("x"), true)?;
    }
    if let Some(bundle) = promise.get("home_bundle").cloned() {
        super::methods::run(ctx, &bundle, promise);
    }
    match &wanted.password {
        Some((password, hash)) if !wanted.locked() => {
            set_password(ctx, name, &Hash { old: Some("x"), new: password }, *hash)
        }
        _ => Some(()),
    }
}

/// What differs from the promise.
#[derive(Default)]
struct Changes {
    /// Arguments of usermod.
    arguments: Vec<String>,
    /// What they change.
    attributes: Vec<Change>,
    password: bool,
    lock: bool,
}

impl Changes {
    fn none(&self) -> bool {
        self.arguments.is_empty() && !self.password && !self.lock
    }

    fn needed(ctx: &Context<'_>, wanted: &Wanted, account: &[String]) -> Option<Changes> {
        let groups = database(ctx, "/etc/group")?;
        let field = |at: usize| account.get(at).map(String::as_str).unwrap_or_default();
        let mut changes = Changes::default();
        let mut set = |flag: &str, property: &'static str, from: &str, to: &str| {
            changes.arguments.extend([flag.to_owned(), to.to_owned()]);
            changes.attributes.push(change(&wanted.name, property, from, to));
        };
        if let Some(uid) = &wanted.uid
            && **uid != *field(2)
        {
            set("-u", "uid", field(2), uid);
        }
        if let Some(text) = &wanted.description
            && **text != *field(4)
        {
            set("-c", "comment", field(4), text);
        }
        if let Some(group) = &wanted.primary {
            let known = groups.iter().find(|fields| fields[0] == **group);
            let number = known.and_then(|fields| fields.get(2)).cloned();
            if number.is_none() && !group.bytes().all(|byte| byte.is_ascii_digit()) {
                ctx.error(&format!("No such group '{group}'."));
            }
            if number.unwrap_or_else(|| group.to_string()) != field(3) {
                set("-g", "gid", field(3), group);
            }
        }
        if let Some(home) = &wanted.home
            && **home != *field(5)
        {
            set("-d", "home", field(5), home);
        }
        if let Some(shell) = &wanted.shell
            && **shell != *field(6)
        {
            set("-s", "shell", field(6), shell);
        }
        if let Some(secondary) = &wanted.secondary {
            let by_name = |name: &str| groups.iter().any(|fields| fields[0] == name);
            let asked: BTreeSet<String> = secondary
                .iter()
                .map(|group| {
                    let numbered = groups
                        .iter()
                        .find(|fields| fields.get(2).is_some_and(|gid| **gid == **group));
                    match numbered {
                        Some(fields) if !by_name(group) => fields[0].clone(),
                        _ => group.to_string(),
                    }
                })
                .collect();
            let member = |fields: &&Vec<String>| {
                fields
                    .get(3)
                    .is_some_and(|members| members.split(',').any(|member| member == &*wanted.name))
            };
            let current: BTreeSet<String> =
                groups.iter().filter(member).map(|fields| fields[0].clone()).collect();
            let joined = |names: &BTreeSet<String>| {
                names.iter().map(String::as_str).collect::<Vec<_>>().join(",")
            };
            if asked != current {
                set("-G", "groups", &joined(&current), &joined(&asked));
            }
        }
        let hash = hash_of(ctx, account);
        changes.lock = hash.is_some_and(|hash| hash.starts_with('!')) != wanted.locked();
        if let Some((password, is_hash)) = &wanted.password
            && !wanted.locked()
        {
            changes.password = !password_agrees(ctx, account, password, *is_hash)?;
        }
        Some(changes)
    }
}

fn modify(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    account: &[String],
    changes: &Changes,
) -> Option<()> {
    let name = &wanted.name;
    if changes.password {
        let (password, hash) = wanted.password.as_ref()?;
        let old = hash_of(ctx, account);
        let password = Hash { old: old.as_deref(), new: password };
        let text = format!("Need to change password for user '{name}'.");
        if only_warns(ctx, promise, &[password.change(name)], &text) {
            return None;
        }
        set_password(ctx, name, &password, *hash)?;
    }
    if changes.lock {
        let verb = if wanted.locked() { "lock" } else { "unlock" };
        let text = format!("Need to {verb} account for user '{name}'.");
        if only_warns(ctx, promise, &[lock_change(name, wanted.locked())], &text) {
            return None;
        }
        // A password just set has unlocked the hash already.
        let hash = if changes.password { None } else { Some(hash_of(ctx, account)?) };
        set_locked(ctx, name, hash.as_deref(), wanted.locked())?;
    }
    let mut argv = vec![USERMOD.to_owned()];
    argv.extend(changes.arguments.iter().cloned());
    argv.push(name.to_string());
    let text = format!("Need to update user attributes (command '{}').", argv.join(" "));
    if only_warns(ctx, promise, &changes.attributes, &text) {
        return None;
    }
    if changes.arguments.is_empty() {
        return Some(());
    }
    execute(ctx, name, &changes.attributes, &argv, "modifying")
}

/// A password or its hash, and what is stored as far as that is known.
struct Hash<'t> {
    old: Option<&'t str>,
    new: &'t str,
}

impl Hash<'_> {
    fn change(&self, name: &str) -> Change {
        change(name, "password", self.old.unwrap_or_default(), self.new).sensitive()
    }
}

fn lock_change(name: &str, lock: bool) -> Change {
    Change::of(Target::user(os(name)), "locked", !lock, lock)
}

fn password_agrees(
    ctx: &Context<'_>,
    account: &[String],
    password: &str,
    is_hash: bool,
) -> Option<bool> {
    let stored = hash_of(ctx, account)?;
    if is_hash {
        return Some(stored == password);
    }
    if stored.len() < 2 || stored.starts_with(['!', '*']) {
        return Some(false);
    }
    match crypt(&encode(password), &encode(&stored)) {
        Ok(hash) => Some(hash == stored),
        Err(Refused::Setting) => Some(false),
        Err(Refused::Method(method)) => {
            ctx.error(&format!(
                "Could not check password for user '{}' against stored password: the method '{method}' is not supported",
                account[0]
            ));
            None
        }
    }
}

fn set_password(ctx: &Context<'_>, name: &str, password: &Hash<'_>, is_hash: bool) -> Option<()> {
    if is_hash { set_hash(ctx, name, password) } else { chpasswd(ctx, name, password, &[]) }
}

fn set_hash(ctx: &Context<'_>, name: &str, hash: &Hash<'_>) -> Option<()> {
    chpasswd(ctx, name, hash, &["-e"])
}

fn chpasswd(ctx: &Context<'_>, name: &str, secret: &Hash<'_>, flags: &[&str]) -> Option<()> {
    let argv: Vec<&str> = std::iter::once(CHPASSWD).chain(flags.iter().copied()).collect();
    let command = argv.join(" ");
    log!(ctx, Verbose, "Changing password hash for user '{name}'. (command: '{command}')");
    let spec = in_environment(ctx, Spec::argv(argv))
        .stdin(encode(&format!("{name}:{}\n", secret.new)).into_owned());
    let done = ctx.make(&[secret.change(name)], |act| {
        let ended = act.run(&spec)?;
        // What it printed may hold the secret.
        Failure::of_command(&command, ended.exit, b"").map_or(Ok(()), Err)
    });
    match done {
        Ok(done) => done.made(),
        Err(Failure::Command { exit, .. }) => {
            let status = if let Exit::Code(code) = exit { code } else { -1 };
            ctx.error(&format!("'{command}' returned non-zero status: {status}\n"));
            None
        }
        Err(failure) => {
            ctx.error(&format!(
                "Could not launch password changing command '{command}': {failure}."
            ));
            None
        }
    }
}

fn set_locked(ctx: &Context<'_>, name: &str, hash: Option<&str>, lock: bool) -> Option<()> {
    if let Some(hash) = hash {
        match (hash.strip_prefix('!'), lock) {
            (None, true) => {
                set_hash(ctx, name, &Hash { old: Some(hash), new: &format!("!{hash}") })?;
            }
            (Some(bare), false) => set_hash(ctx, name, &Hash { old: Some(hash), new: bare })?,
            _ => {}
        }
    }
    let date = if lock { LONG_AGO } else { "" };
    let argv: Vec<String> = [USERMOD, "-e", date, name].iter().map(|&word| word.into()).collect();
    let doing = if lock { "locking" } else { "unlocking" };
    execute(ctx, name, &[lock_change(name, lock)], &argv, doing)
}
