//! Users and groups for the bodies of Chef's providers: what the machine has, and the words of
//! commands. The commands themselves run as changes of the provider.

use fx_host::HostError;
use fx_resources::account::shadow::Shadow;
use fx_resources::account::tools::{Attribute, Attributes, Call, Dialect, password_line};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, raise, text};
use crate::ruby_data::{is_set, list, maybe, record, setting, setting_text, words};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("account_user", user),
    ("account_group", group),
    ("account_words", account_words),
    ("password_line", line_with_password),
];

/// `FX.account_user(name)`: what the machine knows of a user; nil without such a one. What only
/// root may read is nil for others.
fn user(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let found = machine.look().user(&name);
    let Some(user) = found_or_raised(vm, found)? else { return Ok(NIL) };
    let shadow = match Shadow::of(machine.look(), &name) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => None,
        shadow => found_or_raised(vm, shadow)?,
    };
    let day = |day: i64| {
        let start = jiff::civil::date(1970, 1, 1);
        start.checked_add(jiff::Span::new().try_days(day).ok()?).ok().map(|date| date.to_string())
    };
    let expiry = shadow.as_ref().and_then(|shadow| shadow.expiry).and_then(day);
    let number = |number: Option<i64>| number.map_or(NIL, Value::fix);
    let fields = [
        ("uid", Value::fix(i64::from(user.uid))),
        ("gid", Value::fix(i64::from(user.gid))),
        ("comment", vm.str(user.comment)),
        ("home", vm.str(user.home.into_os_string().into_encoded_bytes())),
        ("shell", vm.str(user.shell.into_os_string().into_encoded_bytes())),
        ("password", maybe(vm, shadow.as_ref().map(|shadow| shadow.hash.clone()))),
        ("inactive", number(shadow.as_ref().and_then(|shadow| shadow.inactive))),
        ("expire_date", maybe(vm, expiry)),
        ("locked", shadow.map_or(NIL, |shadow| Value::bool(shadow.is_locked()))),
    ];
    record(vm, &fields)
}

/// `FX.account_group(name)`: number and members of a group; nil without such a one.
fn group(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let found = machine.look().group(&name);
    let Some(group) = found_or_raised(vm, found)? else { return Ok(NIL) };
    let members = list(vm, group.members);
    record(vm, &[("gid", Value::fix(i64::from(group.gid))), ("members", members)])
}

fn found_or_raised<T>(vm: &mut Vm, found: Result<Option<T>, HostError>) -> Res<Option<T>> {
    match found {
        Ok(found) => Ok(found),
        Err(error) => {
            let path = error.path().map(|path| path.to_string_lossy().into_owned());
            vm.host_error(&error, &path.unwrap_or_default())
        }
    }
}

/// What `useradd` and `usermod` set, by the names of Chef's properties.
const ATTRIBUTES: [Attribute; 7] = [
    Attribute::Comment,
    Attribute::ExpireDate,
    Attribute::Gid,
    Attribute::Inactive,
    Attribute::Shell,
    Attribute::Uid,
    Attribute::Home,
];

/// `FX.account_words(call, name, settings)`: the command for a change of a user or group.
fn account_words(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let call = text(vm, a, 0)?.unwrap_or_default();
    let name = text(vm, a, 1)?.unwrap_or_default();
    let settings = vm.opt_nil(a, 2).unwrap_or(NIL);
    let mut attributes = Attributes::new();
    for attribute in ATTRIBUTES {
        if let Some(value) = setting_text(vm, settings, attribute.property())? {
            attributes.push((attribute, value));
        }
    }
    let attributes = &attributes;
    let non_unique = is_set(vm, settings, "non_unique")?;
    let system = is_set(vm, settings, "system")?;
    let manage_home = is_set(vm, settings, "manage_home")?;
    let members = setting(vm, settings, "members")?;
    let members = words(vm, members)?;
    let member = setting_text(vm, settings, "member")?.unwrap_or_default();
    let gid = || number(attributes, non_unique);
    let call = match call.as_str() {
        "add_user" => Call::AddUser { attributes, non_unique, make_home: manage_home, system },
        "change_user" => Call::ChangeUser { attributes, non_unique, move_home: manage_home },
        "remove_user" if is_set(vm, settings, "force")? => {
            Call::ForceRemoveUser { remove_home: manage_home }
        }
        "remove_user" => Call::RemoveUser { remove_home: manage_home },
        "set_password" => Call::SetPassword { hashed: true },
        "lock_user" => Call::LockPassword(true),
        "unlock_user" => Call::LockPassword(false),
        "add_group" | "change_group" => {
            let gid = match gid() {
                Ok(gid) => gid,
                Err(odd) => return raise(vm, "Group", &format!("invalid group ID '{odd}'")),
            };
            if call == "add_group" {
                Call::AddGroup { gid, system }
            } else {
                Call::ChangeGroup { gid }
            }
        }
        "remove_group" => Call::RemoveGroup,
        "set_members" => Call::SetMembers(&members),
        "add_member" => Call::AddMember(&member),
        "remove_member" => Call::RemoveMember(&member),
        other => return vm.arg_error(format!("accounts have no change '{other}'")),
    };
    let words = Dialect::default().argv(&name, &call);
    Ok(list(vm, words))
}

/// The number of a group among attributes, and whether another group may have it.
fn number(attributes: &Attributes, non_unique: bool) -> Result<Option<(u32, bool)>, String> {
    let given = attributes.iter().find(|(attribute, _)| *attribute == Attribute::Gid);
    let number = given.map(|(_, gid)| gid.parse().map_err(|_| gid.clone())).transpose()?;
    Ok(number.map(|gid| (gid, non_unique)))
}

/// `FX.password_line(name, hash)`: what chpasswd reads; a hash among the words of a command could
/// be seen by everybody.
fn line_with_password(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (name, hash) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    if hash.contains('\n') || name.contains([':', '\n']) {
        return raise(vm, "User", &format!("the password of {name} has a line break"));
    }
    Ok(vm.str(password_line(&name, &hash)))
}
