//! Accounts, packages, services, mounts, keys and host entries: what their attributes mean
//! on the machine.

use std::path::PathBuf;

use fx_engine::Failure;
use fx_host::Program;
use fx_puppet::text::interpolated;
use fx_puppet::{Compiled, Resource, Value};
use fx_resources::account::Account;
use fx_resources::{cron, group, host_entry, known_host, mount, package, service, ssh_key, user};

use super::attributes::{attribute, list, text, truth};
use super::check::cron::times;
use super::check::entries;
use super::engine_resource::{Made, broken};

/// Attributes that change nothing about what is made here.
const HARMLESS: &[&str] = &[
    "name",
    "provider",
    "ensure",
    "allowdupe",
    "hasstatus",
    "hasrestart",
    "configfiles",
    "reinstall_on_refresh",
    "forcelocal",
    "loginclass",
    "auth_membership",
    "allow_virtual",
    "mark",
];

/// A thing of one of these families; nothing if the type is of another.
pub(super) fn make(compiled: &Compiled, resource: &Resource) -> Result<Option<Made>, String> {
    super::check::check_without_module(resource).map_err(|wrong| wrong.of(resource))?;
    let (known, made): (&[&str], _) = match &*resource.low {
        "user" => (
            &[
                "uid",
                "gid",
                "comment",
                "home",
                "shell",
                "password",
                "groups",
                "membership",
                "managehome",
                "system",
                "password_min_age",
                "password_max_age",
                "password_warn_days",
                "expiry",
                "purge_ssh_keys",
            ],
            make_user(resource),
        ),
        "group" => (&["gid", "members", "auth_membership", "system"], make_group(resource)),
        "package" => (
            &[
                "source",
                "install_options",
                "uninstall_options",
                "adminfile",
                "category",
                "platform",
            ],
            make_package(compiled, resource),
        ),
        "service" => (
            &[
                "enable", "start", "stop", "restart", "status", "pattern", "binary", "flags",
                "path", "timeout",
            ],
            make_service(compiled, resource),
        ),
        "mount" => (
            &["device", "fstype", "options", "dump", "pass", "target", "atboot", "remounts"],
            make_mount(resource),
        ),
        "cron" => (
            &[
                "command",
                "user",
                "minute",
                "hour",
                "monthday",
                "month",
                "weekday",
                "special",
                "environment",
                "target",
            ],
            make_cron(resource),
        ),
        "ssh_authorized_key" => (&["user", "target", "type", "key", "options"], make_key(resource)),
        "sshkey" => (&["type", "key", "host_aliases", "target"], make_host_key(resource)),
        "host" => (&["ip", "host_aliases", "comment", "target"], make_host(resource)),
        _ => return Ok(None),
    };
    for name in resource.attributes.keys() {
        if attribute(resource, name).is_some()
            && !known.contains(&&**name)
            && !HARMLESS.contains(&&**name)
            && !fx_puppet::is_metaparameter(name)
        {
            let why = format!("attribute '{name}' of {} is not supported", resource.low);
            return Ok(Some(broken(resource, Failure::new(why))));
        }
    }
    Ok(Some(made))
}

fn name(resource: &Resource) -> String {
    text(resource, "name").unwrap_or_else(|| resource.title.to_string())
}

fn is_absent(resource: &Resource) -> bool {
    text(resource, "ensure").as_deref() == Some("absent")
}

fn names(resource: &Resource, attribute: &str) -> Option<Vec<String>> {
    let all = list(resource, attribute);
    (!all.is_empty()).then(|| all.iter().map(interpolated).collect())
}

fn make_user(resource: &Resource) -> Made {
    let number = |name: &str| text(resource, name).and_then(|days| days.parse::<i64>().ok());
    if let Some(uid) = text(resource, "uid")
        && uid.parse::<u32>().is_err()
    {
        return broken(resource, Failure::new(format!("Invalid UID {uid}")));
    }
    let desired = user::Desired {
        name: name(resource),
        absent: is_absent(resource),
        uid: text(resource, "uid").and_then(|uid| uid.parse().ok()),
        gid: text(resource, "gid").map(|gid| Account::parse(&gid)),
        comment: text(resource, "comment"),
        home: text(resource, "home").map(PathBuf::from),
        shell: text(resource, "shell").map(PathBuf::from),
        password: text(resource, "password").map(user::Password::hash),
        groups: names(resource, "groups"),
        membership: if text(resource, "membership").as_deref() == Some("inclusive") {
            group::Membership::Inclusive
        } else {
            group::Membership::Minimum
        },
        manage_home: truth(attribute(resource, "managehome")),
        system: truth(attribute(resource, "system")),
        non_unique: truth(attribute(resource, "allowdupe")),
        min_age: number("password_min_age"),
        max_age: number("password_max_age"),
        warn_days: number("password_warn_days"),
        expiry: text(resource, "expiry").and_then(|day| match day.as_str() {
            "absent" => Some(user::Expiry::Never),
            day => {
                let day: jiff::civil::Date = day.parse().ok()?;
                let since = day.since(jiff::civil::date(1970, 1, 1)).ok()?;
                Some(user::Expiry::Day(i64::from(since.get_days())))
            }
        }),
    };
    Made::Other(Box::new(user::User::new(desired)))
}

fn make_group(resource: &Resource) -> Made {
    let desired = group::Desired {
        name: name(resource),
        absent: is_absent(resource),
        gid: text(resource, "gid").and_then(|gid| gid.parse().ok()),
        system: truth(attribute(resource, "system")),
        non_unique: truth(attribute(resource, "allowdupe")),
    };
    Made::Other(Box::new(group::Group::new(desired)))
}

fn make_package(compiled: &Compiled, resource: &Resource) -> Made {
    let backend = match text(resource, "provider") {
        Some(provider) => package::named(match provider.as_str() {
            "pip3" => "pip",
            other => other,
        }),
        None => package::detect(compiled.run().look()),
    };
    let backend = match backend {
        Ok(backend) => backend,
        Err(failure) => return broken(resource, failure),
    };
    let ensure = match text(resource, "ensure").as_deref() {
        None | Some("present" | "installed" | "held") => package::Ensure::Installed,
        Some("latest") => package::Ensure::Latest,
        Some("absent") => package::Ensure::Absent,
        Some("purged") => package::Ensure::Purged,
        Some(version) => package::Ensure::Version(version.to_owned()),
    };
    let mut options = Vec::new();
    for option in list(resource, "install_options") {
        match option {
            Value::Hash(hash) => {
                options.extend(
                    hash.iter().map(|(key, value)| {
                        format!("{}={}", interpolated(key), interpolated(value))
                    }),
                );
            }
            other => options.push(interpolated(&other)),
        }
    }
    let desired = package::Desired {
        name: name(resource),
        ensure,
        hold: match text(resource, "mark").as_deref() {
            Some("hold") => Some(true),
            Some("none") => Some(false),
            _ => None,
        },
        source: text(resource, "source").map(PathBuf::from),
        options,
        allow_downgrade: true,
    };
    Made::Other(Box::new(package::Package::new(desired, backend)))
}

fn make_service(compiled: &Compiled, resource: &Resource) -> Made {
    let program = |name: &str| text(resource, name).map(|line| Program::Shell(line.into()));
    let commands = service::Commands {
        start: program("start"),
        stop: program("stop"),
        restart: program("restart"),
        status: program("status"),
        sensitive: ["start", "stop", "restart", "status"]
            .iter()
            .any(|name| super::secrets::is_marked(resource, name)),
    };
    let backend = match text(resource, "provider") {
        Some(provider) if provider == "base" => {
            let base = super::base_service::Base {
                pattern: text(resource, "pattern").unwrap_or_else(|| name(resource)),
                binary: text(resource, "binary"),
                commands: commands.clone(),
            };
            Ok(std::rc::Rc::new(base) as std::rc::Rc<dyn service::backend::Backend>)
        }
        Some(provider) => service::named(&provider),
        None => service::detect(compiled.run().look()),
    };
    let backend = match backend {
        Ok(backend) => backend,
        Err(failure) => return broken(resource, failure),
    };
    let desired = service::Desired {
        name: name(resource),
        running: match text(resource, "ensure").as_deref() {
            Some("running" | "true") => Some(true),
            Some("stopped" | "false") => Some(false),
            _ => None,
        },
        // Without a manager nothing starts at boot.
        enabled: match text(resource, "enable").as_deref().filter(|_| backend.name() != "base") {
            Some("true") => Some(service::Enabled::Yes),
            Some("false") => Some(service::Enabled::No),
            Some("mask") => Some(service::Enabled::Masked),
            _ => None,
        },
        commands,
        unknown_is_stopped: true,
    };
    Made::Service(Box::new(service::Service::new(desired, backend)))
}

fn make_mount(resource: &Resource) -> Made {
    let number = |name: &str| text(resource, name).and_then(|number| number.parse().ok());
    let desired = mount::Desired {
        path: PathBuf::from(name(resource)),
        ensure: match text(resource, "ensure").as_deref() {
            Some("mounted") => mount::Ensure::Mounted,
            Some("unmounted") => mount::Ensure::Unmounted,
            Some("absent") => mount::Ensure::Absent,
            _ => mount::Ensure::Defined,
        },
        device: text(resource, "device"),
        fstype: text(resource, "fstype"),
        options: text(resource, "options"),
        dump: number("dump"),
        pass: number("pass"),
        target: text(resource, "target").map(PathBuf::from),
    };
    Made::Other(Box::new(mount::Mount::new(desired)))
}

fn make_cron(resource: &Resource) -> Made {
    let field = |name: &str| times(resource, name).ok().flatten().unwrap_or_else(|| "*".to_owned());
    let desired = cron::Desired {
        name: name(resource),
        absent: is_absent(resource),
        target: cron::Table::Crontab(
            text(resource, "user")
                .or_else(|| text(resource, "target"))
                .unwrap_or_else(|| "root".to_owned()),
        ),
        marker: String::new(),
        schedule: cron::table::Schedule {
            minute: field("minute"),
            hour: field("hour"),
            monthday: field("monthday"),
            month: field("month"),
            weekday: field("weekday"),
            special: text(resource, "special").filter(|word| word != "absent"),
        },
        command: text(resource, "command").unwrap_or_default(),
        environment: names(resource, "environment").unwrap_or_default(),
    };
    Made::Other(Box::new(cron::Cron::new(desired)))
}

fn make_key(resource: &Resource) -> Made {
    let desired = ssh_key::Desired {
        name: name(resource),
        absent: is_absent(resource),
        user: text(resource, "user").unwrap_or_default(),
        target: text(resource, "target").map(PathBuf::from),
        kind: key_type(text(resource, "type").or_else(|| Some("rsa".to_owned()))),
        key: text(resource, "key").unwrap_or_default(),
        options: names(resource, "options").unwrap_or_default(),
    };
    Made::Other(Box::new(ssh_key::SshKey::new(desired)))
}

fn make_host(resource: &Resource) -> Made {
    let desired = host_entry::Desired {
        name: name(resource),
        absent: is_absent(resource),
        ip: text(resource, "ip").and_then(|ip| ip.trim().parse().ok()),
        aliases: names(resource, "host_aliases"),
        comment: text(resource, "comment"),
        target: text(resource, "target").map(PathBuf::from),
    };
    Made::Other(Box::new(host_entry::HostEntry::new(desired)))
}

fn make_host_key(resource: &Resource) -> Made {
    // A title may be a name with the kind of key behind it.
    let name = name(resource);
    let (name, behind) = match name.split_once('@') {
        Some((name, kind)) => (name.to_owned(), Some(kind.to_owned())),
        None => (name, None),
    };
    let desired = known_host::Desired {
        name,
        kind: key_type(text(resource, "type").or(behind)),
        absent: is_absent(resource),
        key: text(resource, "key"),
        aliases: names(resource, "host_aliases"),
        target: text(resource, "target").map(PathBuf::from),
    };
    Made::Other(Box::new(known_host::KnownHost::new(desired)))
}

/// The name of a kind of keys in a file.
fn key_type(word: Option<String>) -> String {
    entries::key_type(&word.unwrap_or_default()).to_owned()
}
