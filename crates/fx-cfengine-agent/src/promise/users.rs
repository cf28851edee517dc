//! users: local accounts by useradd, usermod, userdel and chpasswd.
//!
//! As the original does, only the local databases are looked at, an account is locked by a
//! `!` before its hash and an expiry date long past, and home directories are left to the
//! `home_bundle`. Commands are started without a shell.

use std::collections::BTreeSet;
use std::rc::Rc;

use fx_cfengine::command::in_environment;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{Str, decode, encode, os, path};
use fx_crypto::password::{Refused, crypt};
use fx_engine::{Change, Failure, Level, Target};
use fx_host::{Exit, Spec};
use fx_resources::account::table::{GROUP, PASSWD, Row, SHADOW, Table};
use fx_resources::account::tools::{Attribute, Attributes, Call, Dialect, password_line};

use crate::action::Action;
use crate::agent::Agent;
use crate::change::{ABSENT, value};

/// Where the original looks for the tools, and its order of their options.
const DIALECT: Dialect = Dialect {
    directory: "/usr/sbin/",
    create: [
        Attribute::Uid,
        Attribute::Comment,
        Attribute::Gid,
        Attribute::Groups,
        Attribute::Home,
        Attribute::Shell,
    ],
    modify: [
        Attribute::Uid,
        Attribute::Comment,
        Attribute::Gid,
        Attribute::Home,
        Attribute::Shell,
        Attribute::Groups,
    ],
};

/// The day after the first: an account that expired then is locked.
const LONG_AGO: &str = "1970-01-02";

/// Keeps a users promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
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
    fn read(ctx: &Agent<'_>, promise: &Expanded) -> Option<Wanted> {
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

    fn attribute(&self, attribute: Attribute) -> Option<String> {
        let word = match attribute {
            Attribute::Uid => &self.uid,
            Attribute::Gid => &self.primary,
            Attribute::Comment => &self.description,
            Attribute::Home => &self.home,
            Attribute::Shell => &self.shell,
            Attribute::Groups => return self.secondary.as_ref().map(|groups| groups.join(",")),
            // The language has no word for these.
            Attribute::ExpireDate | Attribute::Inactive => return None,
        };
        word.as_ref().map(ToString::to_string)
    }

    /// What an attribute is and what it should be, where that differs.
    fn difference(
        &self,
        ctx: &Agent<'_>,
        attribute: Attribute,
        account: &Row,
        groups: &Table,
    ) -> Option<(String, String)> {
        let wanted = self.attribute(attribute)?;
        let (from, to, same) = match attribute {
            Attribute::Uid => (field(account, 2), wanted, None),
            Attribute::Comment => (field(account, 4), wanted, None),
            Attribute::Home => (field(account, 5), wanted, None),
            Attribute::Shell => (field(account, 6), wanted, None),
            Attribute::Gid => {
                let number = groups.row(&encode(&wanted)).map(|row| field(row, 2));
                if number.is_none() && !wanted.bytes().all(|byte| byte.is_ascii_digit()) {
                    ctx.error(&format!("No such group '{wanted}'."));
                }
                (field(account, 3), wanted, number)
            }
            Attribute::ExpireDate | Attribute::Inactive => return None,
            Attribute::Groups => {
                // Groups are a set: the order says nothing.
                let wanted: BTreeSet<String> =
                    self.secondary.iter().flatten().map(|group| name_of(groups, group)).collect();
                let current: BTreeSet<String> =
                    groups.groups_of(&encode(&self.name)).map(decode).collect();
                let joined = |names: BTreeSet<String>| Vec::from_iter(names).join(",");
                (joined(current), joined(wanted), None)
            }
        };
        (from != same.as_deref().unwrap_or(&to)).then_some((from, to))
    }

    fn locked(&self) -> bool {
        &*self.policy == "locked"
    }
}

/// One of the local databases.
fn database(ctx: &Agent<'_>, file: &str) -> Option<Table> {
    match Table::read(ctx.host(), file) {
        Ok(table) => Some(table),
        Err(error) => {
            ctx.error(&format!("Could not open '{file}': {}", fx_cfengine::reason::reason(&error)));
            None
        }
    }
}

fn field(row: &Row, at: usize) -> String {
    decode(row.field(at))
}

/// The hash of an account, from the shadow database or, without that, from passwd.
fn hash_of(ctx: &Agent<'_>, account: &Row) -> Option<String> {
    if ctx.host().stat(&path(SHADOW)).is_err() {
        return Some(field(account, 1));
    }
    let hash = database(ctx, SHADOW)?.row(account.name()).map(|row| field(row, 1));
    if hash.is_none() {
        ctx.error("Could not find user when checking password.");
    }
    hash
}

fn verify(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Outcome {
    let name = &wanted.name;
    let Some(accounts) = database(ctx, PASSWD) else {
        ctx.error("Could not get information from user database.");
        return Outcome::Kept;
    };
    let account = accounts.row(&encode(name));
    let (done, verb, past) = match (&*wanted.policy, account) {
        ("absent", None) => return Outcome::Kept,
        ("absent", Some(_)) => (remove(ctx, promise, wanted), "remove", "Removed"),
        (_, None) => (create(ctx, promise, wanted), "create", "Created"),
        (_, Some(account)) => match Changes::needed(ctx, wanted, account) {
            None => (None, "modify", "Modified"),
            Some(changes) if changes.none() => return Outcome::Kept,
            Some(changes) => {
                (modify(ctx, promise, wanted, account, &changes), "modify", "Modified")
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

fn only_warns(ctx: &Agent<'_>, promise: &Expanded, changes: &[Change], text: &str) -> bool {
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
    ctx: &Agent<'_>,
    name: &str,
    changes: &[Change],
    call: &Call<'_>,
    doing: &str,
) -> Option<()> {
    let argv = DIALECT.argv(name, call);
    // Shown as the shell would be given it.
    let mut line = String::new();
    let mut quoted = false;
    for word in &argv {
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

fn remove(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Option<()> {
    let name = &wanted.name;
    let gone = [change(name, "ensure", "present", ABSENT)];
    if only_warns(ctx, promise, &gone, &format!("Need to remove user '{name}'.")) {
        return None;
    }
    execute(ctx, name, &gone, &Call::RemoveUser { remove_home: false }, "removing")
}

fn create(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wanted: &Wanted) -> Option<()> {
    let name = &wanted.name;
    if name.is_empty() {
        return None;
    }
    let attributes: Attributes = DIALECT
        .create
        .into_iter()
        .filter_map(|attribute| Some((attribute, wanted.attribute(attribute)?)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let made = [change(name, "ensure", ABSENT, "present")];
    if only_warns(ctx, promise, &made, &format!("Need to create user '{name}'.")) {
        return None;
    }
    // Home directories are the home_bundle's work.
    let add = Call::AddUser {
        attributes: &attributes,
        non_unique: false,
        make_home: false,
        system: false,
    };
    execute(ctx, name, &made, &add, "creating")?;
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
    /// What usermod is given.
    attributes: Attributes,
    /// What that changes.
    changes: Vec<Change>,
    password: bool,
    lock: bool,
}

impl Changes {
    fn none(&self) -> bool {
        self.attributes.is_empty() && !self.password && !self.lock
    }

    fn needed(ctx: &Agent<'_>, wanted: &Wanted, account: &Row) -> Option<Changes> {
        let groups = database(ctx, GROUP)?;
        let mut changes = Changes::default();
        for attribute in DIALECT.modify {
            if let Some((from, to)) = wanted.difference(ctx, attribute, account, &groups) {
                changes.changes.push(change(&wanted.name, attribute.property(), &from, &to));
                changes.attributes.push((attribute, to));
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

/// The name of a group that is given by name or number.
fn name_of(groups: &Table, group: &str) -> String {
    let text = encode(group);
    let numbered = groups.rows().find(|row| row.field(2) == &*text);
    match numbered {
        Some(row) if groups.row(&text).is_none() => decode(row.name()),
        _ => group.to_owned(),
    }
}

fn modify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    account: &Row,
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
    let call =
        Call::ChangeUser { attributes: &changes.attributes, non_unique: false, move_home: false };
    let command = DIALECT.argv(name, &call).join(" ");
    let text = format!("Need to update user attributes (command '{command}').");
    if only_warns(ctx, promise, &changes.changes, &text) {
        return None;
    }
    if changes.attributes.is_empty() {
        return Some(());
    }
    execute(ctx, name, &changes.changes, &call, "modifying")
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

fn password_agrees(ctx: &Agent<'_>, account: &Row, password: &str, is_hash: bool) -> Option<bool> {
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
                decode(account.name())
            ));
            None
        }
    }
}

fn set_hash(ctx: &Agent<'_>, name: &str, hash: &Hash<'_>) -> Option<()> {
    set_password(ctx, name, hash, true)
}

fn set_password(ctx: &Agent<'_>, name: &str, secret: &Hash<'_>, hashed: bool) -> Option<()> {
    let argv = DIALECT.argv(name, &Call::SetPassword { hashed });
    let command = argv.join(" ");
    log!(ctx, Verbose, "Changing password hash for user '{name}'. (command: '{command}')");
    let spec = in_environment(ctx, Spec::argv(argv))
        .stdin(encode(&password_line(name, secret.new)).into_owned());
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

fn set_locked(ctx: &Agent<'_>, name: &str, hash: Option<&str>, lock: bool) -> Option<()> {
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
    let doing = if lock { "locking" } else { "unlocking" };
    execute(ctx, name, &[lock_change(name, lock)], &Call::Expire(date), doing)
}
