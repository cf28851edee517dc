//! The words of the original for everything that is logged while a catalog is applied: pure
//! functions from events, values and failures to text. Nothing is looked up here.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Detail, Failure, NoProgram};
use fx_host::Exit;
use fx_puppet::Resource;

use super::attributes::text;

/// What can be logged. The console, the report's log and the message of a report's event all
/// have their words from [`words`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Words of a manifest, a program, or code of a module.
    Verbatim(String),
    /// What is logged in detail only.
    Detail(super::debug::Detail),
    Created,
    Removed,
    Purged,
    /// A new file has this content, by its digest.
    ContentDefined(String),
    /// `ensure` changed, in the words of built-in types.
    EnsureChanged {
        from: String,
        to: String,
    },
    /// A property that had no value has one now; the value as it is shown.
    Defined {
        property: String,
        to: String,
    },
    /// A property changed; both values as they are shown.
    Changed {
        property: String,
        from: String,
        to: String,
        /// A mode as the manifest gives it by letters.
        letters: Option<String>,
    },
    /// A property changed that holds a secret.
    ChangedSecret,
    /// How content differs, by a unified diff.
    Diff(String),
    DiffRedacted,
    /// A command ended as it should.
    Executed,
    OutputRedacted,
    /// Lines of output that are left out.
    OutputCut(usize),
    /// A change that was withheld; both values as they are shown.
    Withheld {
        from: String,
        to: String,
    },
    /// A change that failed; both values as they are shown.
    ChangeFailed {
        from: String,
        to: String,
        why: String,
    },
    /// A failure by itself.
    Failed(String),
    /// A failure and the one it was caused by.
    Wrapped {
        why: String,
        inner: String,
    },
    /// The state of a resource could not be found out.
    NotEvaluated(String),
    /// A directory stays, because `force` is not set.
    DirectoryStays,
    Triggered(usize),
    WouldTrigger(usize),
    RefreshFailed(String),
    Scheduling(String),
    Unscheduling(String),
    UnschedulingAll(String),
    DependencyFailed(String),
    ClassDependencyFailed(String),
    SkippedByDependency,
    Tidying(usize),
    NotGenerated {
        /// The step of the original that failed.
        step: &'static str,
        why: String,
    },
    /// A watched property was seen for the first time.
    NewlyRecorded(String),
    /// A watched property is not what it was; both values as they are shown.
    AuditChanged {
        from: String,
        to: String,
    },
    /// No provider of this type works here.
    NoProvider(String),
    Compiled {
        node: String,
        environment: String,
        seconds: f64,
    },
    UsingEnvironment(String),
    Applying {
        version: String,
    },
    CreatingStateFile(PathBuf),
    Applied {
        seconds: f64,
    },
    NotApplied(String),
    BackingUpTree,
    Checksumming(String),
    DuplicateInBucket {
        algorithm: &'static str,
        sum: String,
    },
    Filebucketed {
        path: String,
        bucket: String,
        sum: String,
    },
    TooLargeForBucket {
        path: String,
        bucket: String,
        size: u64,
    },
}

fn events(count: usize) -> String {
    format!("{count} event{}", if count == 1 { "" } else { "s" })
}

/// The words of a change that puts right what something else changed.
pub(super) fn corrective(words: &str) -> String {
    format!("{words} (corrective)")
}

/// The words of an event.
pub(crate) fn words(message: &Message) -> String {
    use Message::{
        Applied, Applying, AuditChanged, BackingUpTree, ChangeFailed, Changed, ChangedSecret,
        Checksumming, ClassDependencyFailed, Compiled, ContentDefined, Created, CreatingStateFile,
        Defined, DependencyFailed, Diff, DiffRedacted, DirectoryStays, DuplicateInBucket,
        EnsureChanged, Executed, Failed, Filebucketed, NewlyRecorded, NoProvider, NotApplied,
        NotEvaluated, NotGenerated, OutputCut, OutputRedacted, Purged, RefreshFailed, Removed,
        Scheduling, SkippedByDependency, Tidying, TooLargeForBucket, Triggered, Unscheduling,
        UnschedulingAll, UsingEnvironment, Verbatim, Withheld, WouldTrigger, Wrapped,
    };
    match message {
        Verbatim(text) | Failed(text) => text.clone(),
        Message::Detail(detail) => super::debug::words(detail),
        Created => "created".into(),
        Removed => "removed".into(),
        Purged => "purged".into(),
        ContentDefined(sum) => format!("defined content as '{sum}'"),
        EnsureChanged { from, to } => format!("ensure changed '{from}' to '{to}'"),
        Defined { property, to } => format!("defined '{property}' as {to}"),
        Changed { property, from, to, letters } => {
            let letters = letters.as_ref().map(|mode| format!(" ({mode})")).unwrap_or_default();
            format!("{property} changed {from} to {to}{letters}")
        }
        ChangedSecret => "changed [redacted] to [redacted]".into(),
        Diff(text) => format!("\n{text}"),
        DiffRedacted => "[diff redacted]".into(),
        Executed => "executed successfully".into(),
        OutputRedacted => "[output redacted]".into(),
        OutputCut(lines) => format!("[{lines} more lines are not shown]"),
        Withheld { from, to } => format!("current_value {from}, should be {to} (noop)"),
        ChangeFailed { from, to, why } => format!("change from {from} to {to} failed: {why}"),
        Wrapped { why, inner } => format!("{why}\nWrapped exception:\n{inner}"),
        NotEvaluated(why) => format!("Could not evaluate: {why}"),
        DirectoryStays => "Not removing directory; use 'force' to override".into(),
        Triggered(count) => format!("Triggered 'refresh' from {}", events(*count)),
        WouldTrigger(count) => format!("Would have triggered 'refresh' from {}", events(*count)),
        RefreshFailed(why) => format!("Failed to call refresh: {why}"),
        Scheduling(name) => format!("Scheduling refresh of {name}"),
        Unscheduling(name) => format!("Unscheduling refresh on {name}"),
        UnschedulingAll(name) => format!("Unscheduling all events on {name}"),
        DependencyFailed(name) => format!("Dependency {name} has failures: true"),
        ClassDependencyFailed(name) => format!("Class dependency {name} has failures: true"),
        SkippedByDependency => "Skipping because of failed dependencies".into(),
        Tidying(count) => format!("Tidying {count} files"),
        NotGenerated { step, why } => {
            format!("Failed to generate additional resources using '{step}': {why}")
        }
        NewlyRecorded(value) => format!("audit change: newly-recorded value {value}"),
        AuditChanged { from, to } => {
            format!("audit change: previously recorded value {from} has been changed to {to}")
        }
        NoProvider(kind) => format!("Could not find a suitable provider for {kind}"),
        Compiled { node, environment, seconds } => format!(
            "Compiled catalog for {node} in environment {environment} in {seconds:.2} seconds"
        ),
        UsingEnvironment(name) => format!("Using environment '{name}'"),
        Applying { version } => format!("Applying configuration version '{version}'"),
        CreatingStateFile(path) => format!("Creating state file {}", path.display()),
        Applied { seconds } => format!("Applied catalog in {seconds:.2} seconds"),
        NotApplied(why) => format!("Failed to apply catalog: {why}"),
        BackingUpTree => "Recursively backing up to filebucket".into(),
        Checksumming(path) => format!("Computing checksum on file {path}"),
        DuplicateInBucket { algorithm, sum } => {
            format!("FileBucket got a duplicate file {{{algorithm}}}{sum}")
        }
        Filebucketed { path, bucket, sum } => {
            format!("Filebucketed {path} to {bucket} with sum {sum}")
        }
        TooLargeForBucket { path, bucket, size } => {
            format!("{path} is not kept in {bucket}: {size} bytes are too many")
        }
    }
}

/// A value of a change as plain text; a mark where it is a secret.
pub(super) fn text_of(value: &fx_value::Value) -> String {
    match value {
        fx_value::Value::Bytes(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        other => other.to_string(),
    }
}

/// How a change of `ensure` is worded; `content` is that of the same file, if it changes.
pub(super) fn ensured(
    resource: &Resource,
    ensure: &Change,
    content: Option<&Change>,
    is_secret: bool,
) -> Message {
    if let Some(Detail::Text(text)) = &ensure.detail {
        return Message::Verbatim(text.clone());
    }
    let (from, to) = (text_of(&ensure.from), text_of(&ensure.to));
    match (&*resource.low, to.as_str(), content) {
        (_, "absent", _) => Message::Removed,
        (_, "file", Some(_)) if is_secret => Message::ChangedSecret,
        (_, "file", Some(content)) => Message::ContentDefined(text_of(&content.to)),
        ("service", "running", _) => Message::EnsureChanged { from: "stopped".into(), to },
        ("service", "stopped", _) => Message::EnsureChanged { from: "running".into(), to },
        (_, "purged", _) => Message::Purged,
        ("package", ..) if !matches!(from.as_str(), "purged" | "config-files") => {
            Message::EnsureChanged { from, to }
        }
        ("file", ..) if from != "absent" => Message::EnsureChanged { from, to },
        _ => Message::Created,
    }
}

/// The codes that a command may end with, as a list.
pub(super) fn codes(returns: &[i32]) -> String {
    let returns = if returns.is_empty() { &[0] } else { returns };
    let codes: Vec<String> = returns.iter().map(|code| format!("'{code}'")).collect();
    format!("[{}]", codes.join(", "))
}

/// A command that ended with another code than it had to.
pub(super) fn wrong_code(command: Option<&str>, exit: Exit, returns: &[i32]) -> String {
    let returns = if returns.is_empty() { &[0] } else { returns };
    let codes: Vec<String> = returns.iter().map(i32::to_string).collect();
    let command = match command {
        Some(command) => format!("'{command}'"),
        None => super::execs::COMMAND.to_owned(),
    };
    format!("{command} returned {} instead of one of [{}]", exit.code(), codes.join(","))
}

/// A failure in the words of the original, where it has its own for it.
pub(super) fn failure(failure: &Failure, environment: &str) -> String {
    match failure {
        Failure::NoProgram { program, why } => match why {
            NoProgram::Missing => format!("Could not find command '{program}'"),
            NoProgram::Directory => format!("'{program}' is a directory, not a file"),
            NoProgram::NotExecutable => format!("'{program}' is not executable"),
        },
        Failure::NoProvider(kind) => words(&Message::NoProvider(kind.clone())),
        Failure::NoSource(all) => format!(
            "Could not retrieve information from environment {environment} source(s) {}",
            all.join(", ")
        ),
        Failure::HttpStatus { status, body, .. } => format!("Error {status} on SERVER: {body}"),
        Failure::WrongDigest { found, wanted, .. } => format!(
            "File written to disk did not match desired checksum; discarding changes ({found} vs {wanted})"
        ),
        other => other.to_string(),
    }
}

/// New content that the command of `validate_cmd` refused. The original runs it on a file whose
/// name ends in `temporary`.
pub(super) fn refused_content(
    resource: &Resource,
    path: &Path,
    temporary: &str,
    check: &Failure,
) -> String {
    let Failure::Command { exit, output, .. } = check else { return check.to_string() };
    let token = text(resource, "validate_replacement").unwrap_or_else(|| "%".to_owned());
    let command = text(resource, "validate_cmd").unwrap_or_default();
    let shown = format!("{}{temporary}", path.display());
    let output = with_shown_name(output, path, &shown);
    executed(&command.replace(&token, &shown), exit.code(), &output)
}

/// Output of a program under the name that messages give the file it was run on, which has another one while it is new.
fn with_shown_name(output: &str, path: &Path, shown: &str) -> String {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return output.into() };
    let begin = dir.join(".fx-").display().to_string();
    let end = format!("-{}", name.to_string_lossy());
    let (mut left, mut text) = (output, String::new());
    while let Some((before, rest)) = left.split_once(&begin) {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        text.push_str(before);
        left = match rest[digits..].strip_prefix(&end) {
            Some(behind) => {
                text.push_str(shown);
                behind
            }
            None => {
                text.push_str(&begin);
                rest
            }
        };
    }
    text + left
}

/// A program that failed.
fn executed(command: &str, code: i32, output: &str) -> String {
    format!("Execution of '{command}' returned {code}: {output}")
}

/// Types that programs act for, whose failures the original wraps.
pub(super) fn wraps_programs(resource: &Resource) -> bool {
    matches!(&*resource.low, "user" | "group" | "service" | "package" | "mount" | "cron")
}

/// The failure of a program that acts for a resource. `shown` is the command line with the whole
/// path of its program.
pub(super) fn program_failure(
    resource: &Resource,
    changes: &[Change],
    (command, shown): (&str, &str),
    (code, output): (i32, &str),
    refreshes: bool,
) -> String {
    let executed = executed(shown, code, output);
    let name = text(resource, "name").unwrap_or_else(|| resource.title.to_string());
    let change = changes.first();
    let to = change.map(|change| text_of(&change.to)).unwrap_or_default();
    let property = change.map_or("", |change| &*change.property);
    let reference = resource.reference();
    // A restart may be a stop and a start.
    let is = |name: &str| text(resource, name).as_deref() == Some(command);
    match (&*resource.low, property, to.as_str()) {
        ("service", ..) if refreshes && is("start") => {
            format!("Could not start {reference}: {executed}")
        }
        ("service", ..) if refreshes && is("stop") => {
            format!("Could not stop {reference}: {executed}")
        }
        ("service", ..) if refreshes => format!("Could not restart {reference}: {executed}"),
        ("service", "ensure", "running") => format!("Could not start {reference}: {executed}"),
        ("service", "ensure", _) => format!("Could not stop {reference}: {executed}"),
        ("service", "enable", "true") => format!("Could not enable {name}: {executed}"),
        ("service", "enable", _) => format!("Could not disable {name}: {executed}"),
        (kind @ ("user" | "group"), "ensure", "absent") => {
            format!("Could not delete {kind} {name}: {executed}")
        }
        (kind @ ("user" | "group"), "ensure", _) => {
            format!("Could not create {kind} {name}: {executed}")
        }
        (kind @ ("user" | "group"), property, _) => {
            format!("Could not set {property} on {kind}[{name}]: {executed}")
        }
        ("package", "ensure", "absent" | "purged" | "present" | "installed") => executed,
        ("package", "ensure", _) => format!("Could not update: {executed}"),
        _ => executed,
    }
}

/// What systemd was to do with a service and did not.
pub(super) fn verb_of_service(changes: &[Change], refreshes: bool) -> &'static str {
    let change = changes.first();
    let to = change.map(|change| text_of(&change.to)).unwrap_or_default();
    match (change.map_or("", |change| &*change.property), to.as_str()) {
        _ if refreshes => "restart",
        ("ensure", "running") => "start",
        ("ensure", _) => "stop",
        (_, "true") => "enable",
        (_, "mask") => "mask",
        _ => "disable",
    }
}

/// A service that systemd could not start, stop or restart, with the last lines of its journal; of what it does at boot the
/// original shows no reason.
pub(super) fn systemd_failure(resource: &Resource, verb: &str, journal: &str) -> String {
    let name = text(resource, "name").unwrap_or_else(|| resource.title.to_string());
    match verb {
        "enable" | "disable" | "mask" => format!("Could not {verb} {name}: "),
        _ => format!("Systemd {verb} for {name} failed!\njournalctl log for {name}:\n{journal}"),
    }
}

/// What a file resource was to become when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileForm {
    File,
    Directory,
    Link,
}

/// Why a file could not be made, as the original says it where it wraps the kernel's answer;
/// `Plain` where it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileFailure {
    /// Said alone.
    Alone(String),
    /// Said as the cause of `Could not set 'X' on ensure`.
    Cause(String),
    /// Said as any other failure.
    Plain,
}

/// How the original words the failure of a file. It writes new content beside a file whose name ends
/// in `lock`.
pub(super) fn file_failure(
    form: FileForm,
    path: &Path,
    has_content: bool,
    lock: &str,
    failure: &Failure,
) -> FileFailure {
    use FileFailure::{Alone, Cause, Plain};
    let above = path.parent().unwrap_or(path).display();
    let path = path.display();
    let kind = match failure {
        Failure::Host(error) => Some(error.kind()),
        Failure::NoParent(_) => Some(std::io::ErrorKind::NotFound),
        _ => None,
    };
    let is_missing = kind == Some(std::io::ErrorKind::NotFound);
    let is_no_dir = kind == Some(std::io::ErrorKind::NotADirectory);
    let is_dir = matches!(failure, Failure::InTheWay { kind: fx_host::Kind::Directory, .. });
    match (form, failure) {
        (_, Failure::NoUser(name)) => Cause(format!("Could not find user {name}")),
        (_, Failure::NoGroup(name)) => Cause(format!("Could not find group {name}")),
        (FileForm::Link, _) if is_dir => Alone("Could not remove existing file".into()),
        (_, _) if is_dir && has_content => {
            Cause(format!("Is a directory - Is a directory: {path}"))
        }
        (_, _) if is_dir => Cause(format!("Is a directory @ rb_sysopen - {path}")),
        (FileForm::Directory, _) if is_missing => {
            Alone(format!("Cannot create {path}; parent directory {above} does not exist"))
        }
        (FileForm::Link, _) if is_missing => {
            Cause(format!("No such file or directory @ dir_chdir - {above}"))
        }
        (FileForm::File, _) if is_no_dir => Cause(format!("Not a directory @ rb_sysopen - {path}")),
        (FileForm::File, _) if is_missing && !has_content => {
            Cause(format!("No such file or directory @ rb_sysopen - {path}"))
        }
        (FileForm::File, _) if is_missing => Cause(format!(
            "No such file or directory - A directory component in {path}{lock} does not exist or is a dangling symbolic link"
        )),
        (FileForm::File, Failure::HttpStatus { .. }) => Cause(self::failure(failure, "")),
        _ => Plain,
    }
}

/// Properties of accounts in the order in which the original defines them.
const ACCOUNT_ORDER: [&str; 13] = [
    "ensure",
    "home",
    "uid",
    "gid",
    "comment",
    "shell",
    "password",
    "password_min_age",
    "password_max_age",
    "password_warn_days",
    "groups",
    "expiry",
    "members",
];

/// Changes in the original's order, under its names and with its values.
pub(super) fn changes(resource: &Resource, changes: &mut [Change]) {
    let order: &[&str] = match &*resource.low {
        "file" => &["ensure", "content", "checksum_value", "target", "owner", "group", "mode"],
        "user" | "group" => &ACCOUNT_ORDER,
        _ => &[],
    };
    if !order.is_empty() {
        changes.sort_by_key(|change| {
            order.iter().position(|name| *name == change.property).unwrap_or(usize::MAX)
        });
    }
    for change in changes.iter_mut().filter(|change| change.property == "expiry") {
        let was = text_of(&change.from);
        if was.is_empty() {
            change.from = "absent".into();
        } else if let Some(date) = date(&was) {
            change.from = date.into();
        }
        if let Some(date) = date(&text_of(&change.to)) {
            change.to = date.into();
        }
    }
    if &*resource.low == "package" {
        package_changes(resource, changes);
    }
}

fn package_changes(resource: &Resource, changes: &mut [Change]) {
    // Only managers that know of packages that leave something behind say so.
    let leaves = !matches!(
        text(resource, "provider").as_deref(),
        Some("gem" | "puppet_gem" | "pip" | "pip2" | "pip3")
    );
    let is_held = text(resource, "ensure").as_deref() == Some("held");
    for change in changes.iter_mut().filter(|change| change.property == "ensure") {
        if leaves && text_of(&change.from) == "absent" {
            change.from = "purged".into();
        }
        if matches!(text_of(&change.to).as_str(), "installed" | "present") {
            change.to = if is_held { "held" } else { "present" }.into();
        }
    }
    for change in changes.iter_mut().filter(|change| change.property == "hold") {
        let word = |value: &fx_value::Value| match text_of(value).as_str() {
            "true" => "hold",
            _ => "none",
        };
        let now = Change::of(change.target.clone(), "mark", word(&change.from), word(&change.to));
        *change = now;
    }
}

/// A mode that the manifest gives by letters, which is shown beside its digits.
pub(super) fn letters(resource: &Resource, property: &str) -> Option<String> {
    let mode = text(resource, "mode").filter(|_| &*resource.low == "file" && property == "mode")?;
    (!mode.bytes().all(|byte| byte.is_ascii_digit())).then_some(mode)
}

/// What the report has as the desired value, where that is the word of the manifest.
pub(super) fn wanted(resource: &Resource, property: &str) -> Option<String> {
    if let Some(letters) = letters(resource, property) {
        return Some(letters);
    }
    let word = text(resource, "ensure").filter(|_| property == "ensure")?;
    let is_own = match &*resource.low {
        "package" => word == "latest",
        "file" => word == "present",
        _ => false,
    };
    is_own.then_some(word)
}

/// Whether a property is shown as a number.
fn is_number(resource: &Resource, property: &str) -> bool {
    if (&*resource.low, property) == ("augeas", "returns") {
        return true;
    }
    matches!(&*resource.low, "user" | "group")
        && matches!(
            property,
            "uid" | "gid" | "password_min_age" | "password_max_age" | "password_warn_days"
        )
}

/// Names in a property that is a list of them.
pub(super) fn names(property: &str, value: &fx_value::Value) -> Option<Vec<String>> {
    let is_list = matches!(property, "groups" | "members");
    match value {
        fx_value::Value::List(items) if is_list => Some(items.iter().map(text_of).collect()),
        _ => None,
    }
}

/// A day, counted from 1970, as it is written in manifests.
fn date(days: &str) -> Option<String> {
    let days = jiff::Span::new().try_days(days.parse::<i64>().ok()?).ok()?;
    Some(jiff::civil::date(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// A text as a property shows it.
pub(super) fn shown(resource: &Resource, property: &str, value: &str) -> String {
    if is_number(resource, property) && value.parse::<i64>().is_ok() {
        return value.to_owned();
    }
    fx_puppet::text::program_text(&fx_puppet::Value::from(value))
}

/// Names in a list as a property shows them.
pub(super) fn shown_names(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests;
