//! Whether the values of core types can be taken, in the original's words, before anything
//! is done. What needs the machine is found out when a resource has its turn.

pub(super) mod cron;
pub(super) mod entries;

use fx_puppet::text::{inspected, interpolated};
use fx_puppet::{Resource, Value};

use super::attributes::{attribute, list, text};

/// What is wrong with a resource.
pub(crate) struct Wrong {
    /// The attribute, if one shows it by itself.
    pub attribute: Option<String>,
    /// In the original's words.
    pub why: String,
}

impl Wrong {
    /// The sentence of a run about it.
    pub(super) fn of(self, resource: &Resource) -> String {
        let (reference, why) = (resource.reference(), self.why);
        match self.attribute {
            Some(name) => format!("Parameter {name} failed on {reference}: {why}"),
            None => format!("Validation of {reference} failed: {why}"),
        }
    }
}

const BOOLEAN: &[&str] = &["true", "false", "yes", "no"];
const TRUTH: &[&str] = &["true", "false"];
const MEMBERSHIP: &[&str] = &["inclusive", "minimum"];

/// Attributes that take one of a few words: type, attribute, words.
const WORDS: &[(&str, &str, &[&str])] = &[
    ("exec", "logoutput", &["true", "false", "on_failure"]),
    ("exec", "refreshonly", TRUTH),
    ("file", "force", BOOLEAN),
    ("file", "links", &["follow", "manage"]),
    ("file", "purge", BOOLEAN),
    ("file", "replace", BOOLEAN),
    ("file", "show_diff", BOOLEAN),
    ("file", "source_permissions", &["use", "use_when_creating", "ignore"]),
    ("file", "sourceselect", &["first", "all"]),
    ("group", "allowdupe", BOOLEAN),
    ("group", "auth_membership", BOOLEAN),
    ("group", "ensure", &["present", "absent"]),
    ("group", "system", BOOLEAN),
    ("package", "allow_virtual", BOOLEAN),
    ("package", "configfiles", &["keep", "replace"]),
    ("package", "mark", &["hold", "none"]),
    ("package", "reinstall_on_refresh", TRUTH),
    ("resources", "purge", BOOLEAN),
    ("schedule", "period", &["hourly", "daily", "weekly", "monthly", "never"]),
    ("schedule", "periodmatch", &["number", "distance"]),
    ("service", "hasrestart", TRUTH),
    ("service", "hasstatus", TRUTH),
    ("tidy", "rmdirs", BOOLEAN),
    ("tidy", "type", &["atime", "mtime", "ctime"]),
    ("user", "allowdupe", BOOLEAN),
    ("user", "attribute_membership", MEMBERSHIP),
    ("user", "auth_membership", MEMBERSHIP),
    ("user", "ensure", &["present", "absent", "role"]),
    ("user", "forcelocal", BOOLEAN),
    ("user", "managehome", BOOLEAN),
    ("user", "membership", MEMBERSHIP),
    ("user", "system", BOOLEAN),
];

/// What every resource takes: attribute, words.
const METAPARAMETERS: &[(&str, &[&str])] = &[
    (
        "loglevel",
        &["debug", "info", "notice", "warning", "err", "alert", "emerg", "crit", "verbose"],
    ),
    ("noop", TRUTH),
];

const PROPERTIES: &[&str] = &["ensure", "content", "target", "owner", "group", "mode"];

/// What is wrong with a resource of a type that acts here, or would with its module.
pub(super) fn check(resource: &Resource) -> Result<(), Wrong> {
    if &*resource.low == "file" && !super::files::path_of(resource).is_absolute() {
        let path = super::files::path_of(resource);
        let why = format!("File paths must be fully qualified, not '{}'", path.display());
        return Err(Wrong { attribute: Some("path".to_owned()), why });
    }
    each(resource, |name, value| {
        let is_row = |row: &&(&str, &str, &[&str])| *row.0 == *resource.low && *row.1 == *name;
        match WORDS.iter().find(is_row) {
            Some((_, _, words)) if *words == BOOLEAN => return boolean(name, value),
            Some((_, _, words)) => return one_of(value, words),
            None => {}
        }
        if let Some((_, words)) = METAPARAMETERS.iter().find(|(known, _)| *known == name) {
            return one_of(value, words);
        }
        match &*resource.low {
            _ if name == "provider" => provider(&resource.low, value),
            "exec" => exec(resource, name, value),
            "file" => file(name, value),
            "user" => user(name, value),
            "service" => service(name, value),
            "group" if name == "gid" && !is_digits(&interpolated(value)) => {
                Err(format!("Invalid GID {}", interpolated(value)))
            }
            _ => Ok(()),
        }
    })?;
    whole(match &*resource.low {
        "package"
            if attribute(resource, "mark").is_some()
                && matches!(text(resource, "ensure").as_deref(), Some("absent" | "purged")) =>
        {
            Err("You cannot use \"mark\" property while \"ensure\" is one of [\"absent\", \"purged\"]"
                .to_owned())
        }
        "file" => whole_file(resource),
        _ => Ok(()),
    })
}

/// What is wrong with a resource of a type that modules bring beside the agent, where none is
/// installed: a module judges by itself.
pub(super) fn check_without_module(resource: &Resource) -> Result<(), Wrong> {
    let judge = |name: &str, value: &Value| match &*resource.low {
        "cron" => cron::attribute(resource, name, value),
        "host" => entries::host(resource, name, value),
        "mount" => entries::mount(name, value),
        "ssh_authorized_key" => entries::authorized_key(resource, name, value),
        "sshkey" => entries::host_key(resource, name, value),
        _ => Ok(()),
    };
    if matches!(&*resource.low, "host" | "sshkey") && attribute(resource, "name").is_none() {
        let title = resource.title.split('@').next().unwrap_or_default();
        let title = if &*resource.low == "sshkey" { title } else { &*resource.title };
        judge("name", &title.into())
            .map_err(|why| Wrong { attribute: Some("name".to_owned()), why })?;
    }
    each(resource, judge)?;
    whole(match &*resource.low {
        "cron" => cron::whole(resource),
        "ssh_authorized_key" => entries::whole_authorized_key(resource),
        _ => Ok(()),
    })
}

/// Judges each attribute that is given; properties are set before parameters.
fn each(
    resource: &Resource,
    judge: impl Fn(&str, &Value) -> Result<(), String>,
) -> Result<(), Wrong> {
    let names = || resource.attributes.keys();
    let is_property = |name: &str| PROPERTIES.contains(&name);
    let first = names().filter(|name| is_property(name));
    for name in first.chain(names().filter(|name| !is_property(name))) {
        let Some(value) = attribute(resource, name) else { continue };
        if let Err(why) = judge(name, &value) {
            let hides = super::secrets::is_marked(resource, name);
            let why = if hides { fx_value::REDACTED.to_owned() } else { why };
            return Err(Wrong { attribute: Some(name.to_string()), why });
        }
    }
    Ok(())
}

/// A resource that cannot be, though each attribute can.
fn whole(judged: Result<(), String>) -> Result<(), Wrong> {
    judged.map_err(|why| Wrong { attribute: None, why })
}

fn provider(low: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    let known = fx_puppet::providers(low);
    if known.is_empty() || known.contains(&word.as_str()) {
        return Ok(());
    }
    Err(format!("Invalid {low} provider '{word}'"))
}

fn boolean(name: &str, value: &Value) -> Result<(), String> {
    if BOOLEAN.contains(&interpolated(value).as_str()) {
        return Ok(());
    }
    munged(name, value, "expected a boolean value")
}

fn one_of(value: &Value, words: &[&str]) -> Result<(), String> {
    if words.contains(&interpolated(value).as_str()) {
        return Ok(());
    }
    Err(format!("Invalid value {}. Valid values are {}.", inspected(value), words.join(", ")))
}

fn matches(value: &Value, shown: &str, fits: impl Fn(&str) -> bool) -> Result<(), String> {
    if fits(&interpolated(value)) {
        return Ok(());
    }
    Err(format!("Invalid value {}. Valid values match {shown}.", inspected(value)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn munged(name: &str, value: &Value, why: &str) -> Result<(), String> {
    Err(munging_failed(name, value, why))
}

fn munging_failed(name: &str, value: &Value, why: &str) -> String {
    format!("Munging failed for value {} in class {name}: {why}", inspected(value))
}

fn exec(resource: &Resource, name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    let number = word.parse::<f64>().ok();
    match name {
        "environment" => {
            let all = list(resource, "environment");
            match all.iter().map(interpolated).find(|setting| !setting.contains('=')) {
                Some(setting) => Err(format!("Invalid environment setting '{setting}'")),
                None => Ok(()),
            }
        }
        "timeout" if number.is_none() => munged(name, value, "The timeout must be a number."),
        "tries" if !is_digits(word.trim_start_matches('-')) => {
            munged(name, value, "Tries must be an integer")
        }
        "tries" if number.is_some_and(|number| number < 1.0) => {
            munged(name, value, "Tries must be an integer >= 1")
        }
        "try_sleep" if number.is_none() => munged(name, value, "try_sleep must be a number"),
        "try_sleep" if number.is_some_and(|number| number < 0.0) => {
            munged(name, value, "try_sleep cannot be a negative number")
        }
        "cwd" if !word.starts_with('/') => Err("cwd must be a fully qualified path".into()),
        "creates" => {
            let all = list(resource, "creates");
            if all.iter().all(|path| interpolated(path).starts_with('/')) {
                return Ok(());
            }
            Err("creates must be a fully qualified path".into())
        }
        "umask" => {
            let digits = word.strip_prefix('0').filter(|rest| !rest.is_empty()).unwrap_or(&word);
            let fits = (1..=4).contains(&digits.len())
                && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
            if fits {
                return Ok(());
            }
            Err(format!("The umask specification is invalid: {}", inspected(value)))
        }
        "onlyif" | "unless" if list(resource, "path").is_empty() => {
            let is_shell = text(resource, "provider").as_deref() == Some("shell");
            let guards = match value {
                Value::Array(items) => items.to_vec(),
                one => vec![one.clone()],
            };
            match guards.iter().find(|guard| !is_qualified(guard)) {
                Some(guard) if !is_shell => Err(unqualified(guard)),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Whether a command says where its program lies.
pub(super) fn is_qualified(command: &Value) -> bool {
    let first = match command {
        Value::Array(words) => words.first().map(interpolated).unwrap_or_default(),
        other => interpolated(other).split_whitespace().next().unwrap_or_default().to_owned(),
    };
    first.trim_matches(['"', '\'']).starts_with('/')
}

/// What is wrong with a command that does not.
pub(super) fn unqualified(command: &Value) -> String {
    let command = match command {
        Value::Array(words) => words.first().map(interpolated).unwrap_or_default(),
        other => interpolated(other).split(' ').next().unwrap_or_default().to_owned(),
    };
    format!(
        "'{command}' is not qualified and no path was specified. Please qualify the command or specify a path."
    )
}

/// What Ruby calls the class of a value.
pub(super) fn class_name(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "Integer",
        Value::Float(_) => "Float",
        Value::Array(_) => "Array",
        Value::Hash(_) => "Hash",
        Value::Bool(true) => "TrueClass",
        Value::Bool(false) => "FalseClass",
        _ => "String",
    }
}

fn file(name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "mode" if !matches!(value, Value::String(_)) => Err(format!(
            "The file mode specification must be a string, not '{}'",
            class_name(value)
        )),
        "mode" if fx_resources::mode::Mode::parse(&word).is_err() => {
            Err(format!("The file mode specification is invalid: {}", inspected(value)))
        }
        "content" => match value {
            Value::Int(_) | Value::Float(_) => {
                let kind = class_name(value);
                munged(name, value, &format!("no implicit conversion of {kind} into String"))
            }
            Value::Bool(_) => {
                munged(name, value, &format!("no implicit conversion of {word} into String"))
            }
            _ => Ok(()),
        },
        "backup" if !matches!(value, Value::Bool(_) | Value::String(_)) => {
            Err(format!("Invalid backup type {}", inspected(value)))
        }
        "recurse" if !matches!(word.as_str(), "true" | "false" | "inf" | "remote") => {
            Err(format!("Invalid recurse value {}", inspected(value)))
        }
        "recurselimit" => matches(value, "/^[0-9]+$/", is_digits),
        "max_files" => matches(value, "/^[0-9]+$/, /^-1$/", |text| is_digits(text) || text == "-1"),
        "source" => {
            let all = match value {
                Value::Array(items) => items.iter().map(interpolated).collect(),
                _ => vec![word],
            };
            for source in all.iter().filter(|source| !source.starts_with('/')) {
                match source.split_once("://") {
                    Some((scheme, _)) if !["file", "puppet", "http", "https"].contains(&scheme) => {
                        return Err(format!(
                            "Cannot use URLs of type '{scheme}' as source for fileserving"
                        ));
                    }
                    Some(_) => {}
                    None => return Err(format!("Cannot use relative URLs '{source}'")),
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What is wrong with a file that no attribute shows by itself.
fn whole_file(resource: &Resource) -> Result<(), String> {
    // Any other word for `ensure` is what a link points to.
    const KINDS: [&str; 6] = ["present", "absent", "file", "directory", "link", "false"];
    let is_link = text(resource, "ensure").is_some_and(|word| !KINDS.contains(&word.as_str()));
    let has = |name: &str| attribute(resource, name).is_some() || is_link && name == "target";
    if ["content", "source", "target"].iter().filter(|name| has(name)).count() > 1 {
        return Err("You cannot specify more than one of content, source, target".into());
    }
    if !has("source") && text(resource, "recurse").as_deref() == Some("remote") {
        return Err("You cannot specify a remote recursion without a source".into());
    }
    match text(resource, "checksum").as_deref() {
        Some("none") if has("source") => {
            return Err("You cannot specify source when using checksum 'none'".into());
        }
        Some(kind @ ("mtime" | "ctime" | "none")) if has("content") => {
            return Err(format!("You cannot specify content when using checksum '{kind}'"));
        }
        _ => {}
    }
    if let (Some(value), Some(kind)) =
        (text(resource, "checksum_value"), text(resource, "checksum"))
        && let Some(algorithm) = fx_resources::digest::Algorithm::named(&kind)
        && (value.len() != algorithm.hex(b"").len()
            || !value.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(format!("Checksum value '{value}' is not a valid checksum type {kind}"));
    }
    Ok(())
}

fn user(name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    let is_number = || word.strip_prefix('-').is_some_and(is_digits) || is_digits(&word);
    match name {
        "password" if word.contains(':') => Err("Passwords cannot include ':'".into()),
        "password_min_age" if !is_number() => {
            Err("Password minimum age must be provided as a number.".into())
        }
        "password_max_age" if !is_number() => {
            Err("Password maximum age must be provided as a number.".into())
        }
        "password_warn_days" if !is_number() => {
            Err("Password warning days must be provided as a number.".into())
        }
        "groups" => {
            let all = match value {
                Value::Array(items) => items.iter().map(interpolated).collect(),
                _ => vec![word],
            };
            for group in &all {
                if is_digits(group) {
                    return Err("Group names must be provided, not GID numbers.".into());
                }
                if group.contains(',') {
                    return Err(
                        "Group names must be provided as an array, not a comma-separated list."
                            .into(),
                    );
                }
                if group.is_empty() {
                    return Err("Group names must not be empty. If you want to specify \"no groups\" pass an empty array".into());
                }
            }
            Ok(())
        }
        "purge_ssh_keys" => super::keys::check(value),
        "expiry" if word != "absent" => {
            let parts: Vec<&str> = word.split('-').collect();
            let is_date = matches!(parts.as_slice(), [year, month, day]
                if year.len() == 4 && month.len() == 2 && day.len() == 2
                    && [year, month, day].iter().all(|part| is_digits(part)));
            if is_date {
                return Ok(());
            }
            Err("Expiry dates must be YYYY-MM-DD or the string \"absent\"".into())
        }
        _ => Ok(()),
    }
}

fn service(name: &str, value: &Value) -> Result<(), String> {
    let word = interpolated(value);
    match name {
        "ensure" if !matches!(word.as_str(), "stopped" | "running" | "true" | "false") => {
            Err(format!("Invalid value {}. Valid values are stopped, running.", inspected(value)))
        }
        "enable" => one_of(value, &["true", "false", "manual", "mask", "delayed"]),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: Value, expected: &str) {
        assert_eq!(file(name, &value).err().unwrap_or_default(), expected);
    }

    #[test]
    fn values_of_a_file_are_refused_in_the_words_of_the_original() {
        check(
            "mode",
            Value::Int(644),
            "The file mode specification must be a string, not 'Integer'",
        );
        check("mode", "0644".into(), "");
        check("recurse", "maybe".into(), "Invalid recurse value \"maybe\"");
        check(
            "recurselimit",
            "abc".into(),
            "Invalid value \"abc\". Valid values match /^[0-9]+$/.",
        );
        check("source", "rel/path".into(), "Cannot use relative URLs 'rel/path'");
        let ftp = "Cannot use URLs of type 'ftp' as source for fileserving";
        check("source", "ftp://x/y".into(), ftp);
        check("source", "puppet:///modules/x/y".into(), "");
    }
}
