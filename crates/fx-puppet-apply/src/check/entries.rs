//! Hosts, mounts and keys: each is a line of a table, and must stay one.

use fx_puppet::text::{inspected, interpolated};
use fx_puppet::{Resource, Value};

use super::{attribute, list, matches, one_of};

/// Short names of kinds of keys.
const SHORT: &[(&str, &str)] = &[
    ("dsa", "ssh-dss"),
    ("ed25519", "ssh-ed25519"),
    ("rsa", "ssh-rsa"),
    ("ecdsa-sk", "sk-ecdsa-sha2-nistp256@openssh.com"),
    ("ed25519-sk", "sk-ssh-ed25519@openssh.com"),
];

/// Kinds of keys that log in, and of keys of hosts, in the order of the modules' messages.
const OF_USERS: &[&str] = &[
    "ssh-dss",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-ed25519",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "sk-ssh-ed25519@openssh.com",
    "ssh-rsa-cert-v01@openssh.com",
    "ssh-ed25519-cert-v01@openssh.com",
    "ssh-dss-cert-v01@openssh.com",
    "ecdsa-sha2-nistp256-cert-v01@openssh.com",
    "ecdsa-sha2-nistp384-cert-v01@openssh.com",
    "ecdsa-sha2-nistp521-cert-v01@openssh.com",
];
const OF_HOSTS: &[&str] = &[
    "ssh-dss",
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "sk-ssh-ed25519@openssh.com",
];

/// The name of a kind of keys in a file, for its name in a manifest.
pub(crate) fn key_type(word: &str) -> &str {
    SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, full)| *full)
}

/// What is wrong with the value of one attribute of a host.
pub(super) fn host(resource: &Resource, name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "name" => host_name(&word),
        "ip" if word.trim().parse::<std::net::IpAddr>().is_err() => {
            Err(format!("Invalid IP address {}", inspected(value)))
        }
        "host_aliases" => first_error(&list(resource, name), |alias| {
            if alias.is_empty() {
                return Err("Host aliases cannot be an empty string. Use an empty array to delete all host_aliases ".into());
            }
            without_blanks(alias, "Host aliases cannot include whitespace")
        }),
        "comment" if word.contains(['\n', '\r']) => Err("Comment cannot include newline".into()),
        _ => Ok(()),
    }
}

/// What is wrong with the name of a host.
pub(super) fn host_name(name: &str) -> Result<(), String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = |part: &str| {
        let ends =
            part.bytes().next().is_some_and(is_word) && part.bytes().last().is_some_and(is_word);
        ends && part.bytes().all(|byte| is_word(byte) || byte == b'-')
    };
    if name.trim_end_matches('.').split('.').all(fits) {
        return Ok(());
    }
    Err("Invalid host name".into())
}

/// What is wrong with the value of one attribute of a mount.
pub(super) fn mount(name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "fstype" | "options" if word.is_empty() => {
            Err(format!("{name} must not be an empty string"))
        }
        "fstype" | "options" | "blockdevice" => {
            without_blanks(&word, &format!("{name} must not contain whitespace: {word}"))
        }
        "dump" => matches(value, "/(0|1)/", |text| text.contains(['0', '1'])),
        "remounts" => one_of(value, &["true", "false"]),
        "atboot" => super::boolean(name, value),
        _ => Ok(()),
    }
}

/// What is wrong with the value of one attribute of a key that may log in.
pub(super) fn authorized_key(resource: &Resource, name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "type" => kind_of_key(value, OF_USERS),
        "key" => without_blanks(&word, &format!("Key must not contain whitespace: {word}")),
        "options" => first_error(&list(resource, name), |option| {
            if option == "absent" || is_option(option) {
                return Ok(());
            }
            Err(format!(
                "Option {option} is not valid. A single option must either be of the form 'option' or 'option=\"value\"'. Multiple options must be provided as an array"
            ))
        }),
        _ => Ok(()),
    }
}

/// What is wrong with a key that may log in that no attribute shows by itself.
pub(super) fn whole_authorized_key(resource: &Resource) -> Result<(), String> {
    if attribute(resource, "user").is_some() || attribute(resource, "target").is_some() {
        return Ok(());
    }
    Err("Attribute 'user' or 'target' is mandatory".into())
}

/// What is wrong with the value of one attribute of a key of a host.
pub(super) fn host_key(resource: &Resource, name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "type" => kind_of_key(value, OF_HOSTS),
        "name" => host_key_name(&word),
        "host_aliases" => first_error(&list(resource, name), |alias| {
            without_blanks(alias, "Aliases cannot include whitespace")?;
            if alias.contains(',') {
                return Err(
                    "Aliases must be provided as an array, not a comma-separated list".into()
                );
            }
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// What is wrong with the name of a key of a host.
pub(super) fn host_key_name(name: &str) -> Result<(), String> {
    without_blanks(name, "Resourcename cannot include whitespaces")?;
    if name.contains(',') {
        return Err("No comma in resourcename allowed. If you want to specify aliases use the host_aliases property".into());
    }
    Ok(())
}

fn kind_of_key(value: &Value, kinds: &[&str]) -> Result<(), String> {
    if kinds.contains(&key_type(&interpolated(value))) {
        return Ok(());
    }
    Err(format!("Invalid value {}. Valid values are {}.", inspected(value), kinds.join(", ")))
}

/// `no-pty`, `command="/bin/true"`.
fn is_option(text: &str) -> bool {
    let (name, value) =
        text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let quoted = |value: &str| value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    !name.is_empty() && name.bytes().all(is_name) && value.is_none_or(quoted)
}

fn without_blanks(text: &str, why: &str) -> Result<(), String> {
    if text.contains(|c: char| c.is_ascii_whitespace() || c == '\x0b') {
        return Err(why.to_owned());
    }
    Ok(())
}

fn first_error(all: &[Value], judge: impl Fn(&str) -> Result<(), String>) -> Result<(), String> {
    all.iter().try_for_each(|one| judge(&interpolated(one)))
}
