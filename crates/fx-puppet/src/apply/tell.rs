//! What is told of changes, refreshes and failures, in the original's words.

use fx_engine::{Change, Detail, Level};
use fx_value::REDACTED;

use super::things::{Made, attribute, is_secret};
use super::transaction::Transaction;
use crate::compile::Resource;
use crate::eval::interpolated;
use crate::value::Value;

pub(super) fn text_of(value: &fx_value::Value) -> String {
    match value.as_bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => value.to_string(),
    }
}

/// The level a resource asks its messages to have.
pub(super) fn loglevel(resource: &Resource) -> Level {
    match attribute(resource, "loglevel").map(|level| interpolated(&level)).as_deref() {
        Some("err" | "alert" | "emerg" | "crit") => Level::Error,
        Some("warning") => Level::Warning,
        Some("info" | "verbose") => Level::Info,
        Some("debug") => Level::Debug,
        _ => Level::Notice,
    }
}

/// The word for a level that is worse than an error.
fn louder(resource: &Resource) -> Option<&'static str> {
    Some(match interpolated(&attribute(resource, "loglevel")?).as_str() {
        "alert" => "alert",
        "emerg" => "emerg",
        "crit" => "crit",
        _ => return None,
    })
}

pub(super) fn truth_word(resource: &Resource, name: &str) -> Option<bool> {
    match interpolated(&attribute(resource, name)?).as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// A message that is no text, as a property's value is shown.
fn shown_message(value: &Value) -> String {
    match value {
        Value::Hash(_) | Value::Array(_) => {
            let mut out = String::new();
            pretty(value, 0, &mut out);
            out
        }
        other => format!("'{}'", interpolated(other)),
    }
}

fn pretty(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Hash(hash) if !hash.is_empty() => {
            out.push_str("{\n");
            for (number, (key, value)) in hash.iter().enumerate() {
                out.push_str(&indent);
                out.push_str(&crate::eval::program_text(key));
                out.push_str(" => ");
                pretty(value, depth + 1, out);
                out.push_str(if number + 1 < hash.len() { ",\n" } else { "\n" });
            }
            out.push_str(&"  ".repeat(depth));
            out.push('}');
        }
        other => out.push_str(&crate::eval::program_text(other)),
    }
}

/// Lines of a command's output that are shown and reported.
const MOST_LINES: usize = 10_000;

impl Transaction<'_> {
    /// Tells what was changed; how many properties.
    pub(super) fn tell_changes(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
    ) -> usize {
        let level = loglevel(resource);
        self.louder.set(louder(resource));
        let told = self.tell_changes_at(resource, path, thing, changes, level);
        self.louder.set(None);
        told
    }

    fn tell_changes_at(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
        level: Level,
    ) -> usize {
        match thing {
            Made::Stubborn(_) => {
                self.say(
                    Level::Notice,
                    &format!("{path}: Not removing directory; use 'force' to override"),
                );
                self.say(level, &format!("{path}/ensure: removed"));
                return 1;
            }
            Made::Notify(notify) => {
                let prefix = if truth_word(resource, "withpath") == Some(true) {
                    format!("{path}/message: ")
                } else {
                    String::new()
                };
                // Of several values the first is told.
                let given = match attribute(resource, "message") {
                    Some(Value::Array(items)) => items.first().cloned(),
                    given => given,
                };
                let shown = match given {
                    Some(value @ Value::Hash(_)) => shown_message(&value),
                    Some(value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => {
                        crate::eval::program_text(&value)
                    }
                    _ => crate::eval::program_text(&Value::from(notify.message.as_str())),
                };
                self.speaker.set((!prefix.is_empty()).then_some("message"));
                self.say(level, &format!("{prefix}{}", notify.message));
                let told = if is_secret(resource, "message") {
                    "changed [redacted] to [redacted]".to_owned()
                } else {
                    format!("defined 'message' as {shown}")
                };
                self.say(level, &format!("{path}/message: {told}"));
                return 1;
            }
            Made::Exec(exec) => {
                if truth_word(resource, "logoutput") == Some(true) {
                    self.tell_output(path, exec, level);
                }
                self.say(level, &format!("{path}/returns: executed successfully"));
                return 1;
            }
            _ => {}
        }
        if let Some(ensure) = changes.iter().find(|change| change.property == "ensure") {
            if let Some(Detail::Text(text)) = &ensure.detail {
                self.say(level, &format!("{path}/ensure: {text}"));
                return 1;
            }
            let content = changes.iter().find(|change| change.property == "content");
            let text = match (text_of(&ensure.to).as_str(), content) {
                ("absent", _) => "removed".to_owned(),
                ("file", Some(_)) if is_secret(resource, "ensure") => {
                    "changed [redacted] to [redacted]".to_owned()
                }
                ("file", Some(content)) => format!("defined content as '{}'", text_of(&content.to)),
                ("running", _) if &*resource.low == "service" => {
                    "ensure changed 'stopped' to 'running'".to_owned()
                }
                ("stopped", _) if &*resource.low == "service" => {
                    "ensure changed 'running' to 'stopped'".to_owned()
                }
                ("purged", _) => "purged".to_owned(),
                (to, _)
                    if &*resource.low == "package"
                        && !matches!(text_of(&ensure.from).as_str(), "purged" | "config-files") =>
                {
                    format!("ensure changed '{}' to '{to}'", text_of(&ensure.from))
                }
                (to, _) if &*resource.low == "file" && text_of(&ensure.from) != "absent" => {
                    format!("ensure changed '{}' to '{to}'", text_of(&ensure.from))
                }
                _ => "created".to_owned(),
            };
            self.say(level, &format!("{path}/ensure: {text}"));
            return 1;
        }
        for change in changes {
            let name = &change.property;
            if name == "content" {
                self.tell_diff(resource, path, change, level);
            }
            let (from, to) = (text_of(&change.from), text_of(&change.to));
            let to = super::wording::named(self.run.host, resource, name, to);
            let text = if is_secret(resource, name) {
                "changed [redacted] to [redacted]".to_owned()
            } else if let Some(Detail::Text(text)) = &change.detail {
                text.clone()
            } else {
                let shown = |value: &str| super::wording::shown(resource, name, value);
                let is_list = matches!(&**name, "groups" | "members");
                if from == "absent" || (from.is_empty() && !is_list) {
                    format!("defined '{name}' as {}", shown(&to))
                } else {
                    let letters = super::wording::letters(resource, name);
                    let letters = letters.map(|mode| format!(" ({mode})")).unwrap_or_default();
                    let was = match super::wording::names(name, &from) {
                        Some(names) => names.join(","),
                        None => shown(&from),
                    };
                    format!("{name} changed {was} to {}{letters}", shown(&to))
                }
            };
            self.say(level, &format!("{path}/{name}: {text}"));
        }
        changes.len()
    }

    /// The difference between old and new content, where it is wanted.
    fn tell_diff(&self, resource: &Resource, path: &str, change: &Change, level: Level) {
        if !self.show_diff || truth_word(resource, "show_diff") == Some(false) {
            return;
        }
        if is_secret(resource, "content") {
            self.speaker.set(Some("content"));
            self.say(level, &format!("{path}/content: [diff redacted]"));
            return;
        }
        let Some(Detail::Content { old, new }) = &change.detail else { return };
        let file = attribute(resource, "path")
            .map_or_else(|| resource.title.to_string(), |path| interpolated(&path));
        if let Some(text) = self.diff(&file, old, new) {
            self.speaker.set(Some("content"));
            self.say(level, &format!("{path}/content: \n{text}"));
        }
    }

    /// A unified diff under the names and in the form of `diff -u`, which the original runs.
    fn diff(&self, file: &str, old: &[u8], new: &[u8]) -> Option<String> {
        if old == new {
            return None;
        }
        let other = format!("/tmp/puppet-file{}", self.temporary());
        if old.contains(&0) || new.contains(&0) {
            return Some(format!("Binary files {file} and {other} differ\n"));
        }
        let now = self.run.host.now();
        let time = super::local_time(self.run.host, now.secs);
        let time = format!("{}.{:09} {}", time.strftime("%F %T"), now.nanos, time.strftime("%z"));
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        let diff = similar::TextDiff::from_lines(&*old, &*new);
        let hunks = diff.unified_diff().context_radius(3).to_string();
        Some(format!("--- {file}\t{time}\n+++ {other}\t{time}\n{hunks}"))
    }

    /// The ending of a temporary file as Ruby makes it: the day, the process, and chance.
    fn temporary(&self) -> String {
        let mut random = [0; 6];
        self.run.host.random(&mut random);
        let chance: String = random.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
        let day = super::local_time(self.run.host, self.run.host.now().secs);
        format!("{}-{}-{chance}", day.strftime("%Y%m%d"), self.run.host.pid())
    }

    pub(super) fn tell_withheld(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
    ) -> usize {
        let ensure = changes.iter().find(|change| change.property == "ensure");
        let shown: Vec<&Change> =
            ensure.map_or_else(|| changes.iter().collect(), |ensure| vec![ensure]);
        for change in &shown {
            if change.property == "content" {
                self.tell_diff(resource, path, change, Level::Notice);
            }
            let (from, to) = if change.property == "returns" {
                let codes: Vec<String> = match thing {
                    Made::Exec(exec) if !exec.desired.returns.is_empty() => {
                        exec.desired.returns.iter().map(|code| format!("'{code}'")).collect()
                    }
                    _ => vec!["'0'".to_owned()],
                };
                ("'notrun'".to_owned(), format!("[{}]", codes.join(", ")))
            } else if is_secret(resource, &change.property) {
                ("[redacted]".to_owned(), "[redacted]".to_owned())
            } else if let Made::Ruby(ruby) = thing
                && let Some((from, to)) = ruby.shown(&change.property)
            {
                (from.to_owned(), to.to_owned())
            } else {
                let (from, to) = (text_of(&change.from), text_of(&change.to));
                let property = &change.property;
                let to = super::wording::named(self.run.host, resource, property, to);
                let shown = |value: &str| super::wording::shown(resource, property, value);
                let letters = super::wording::letters(resource, property);
                let letters = letters.map(|mode| format!(" ({mode})")).unwrap_or_default();
                match (super::wording::names(property, &from), super::wording::names(property, &to))
                {
                    (Some(from), Some(to)) => (from.join(","), format!("'{}'", to.join(","))),
                    _ => (shown(&from), format!("{}{letters}", shown(&to))),
                }
            };
            let text =
                format!("{path}/{}: current_value {from}, should be {to} (noop)", change.property);
            self.say(Level::Notice, &text);
        }
        shown.len()
    }

    pub(super) fn tell_output(&self, path: &str, exec: &fx_resources::exec::Exec, level: Level) {
        let Some(ended) = &exec.ended else { return };
        if exec.desired.sensitive {
            self.speaker.set(Some("returns"));
            return self.say(level, &format!("{path}/returns: [output redacted]"));
        }
        let (out, error) =
            (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        let mut lines = out.lines().chain(error.lines());
        for line in lines.by_ref().take(MOST_LINES) {
            self.speaker.set(Some("returns"));
            self.say(level, &format!("{path}/returns: {line}"));
        }
        // Each line is a message of the report as well, which is kept until the end.
        let left = lines.count();
        if left > 0 {
            self.speaker.set(Some("returns"));
            self.say(level, &format!("{path}/returns: [{left} more lines are not shown]"));
        }
    }

    pub(super) fn exec_failure(&self, thing: &Made, message: &str) -> String {
        let Made::Exec(exec) = thing else { return message.to_owned() };
        let command = match &exec.desired.command {
            Some(fx_host::Program::Shell(line)) => line.to_string_lossy().into_owned(),
            Some(fx_host::Program::Argv(words)) => {
                words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
            }
            None => String::new(),
        };
        let returns: Vec<String> = if exec.desired.returns.is_empty() {
            vec!["0".into()]
        } else {
            exec.desired.returns.iter().map(i32::to_string).collect()
        };
        let first = command.split_whitespace().next().unwrap_or_default();
        if let (None, Some(dir)) = (&exec.ended, &exec.desired.rules.cwd)
            && !self.run.host.stat(dir).is_ok_and(|meta| meta.is_dir())
        {
            return format!("Working directory {} does not exist!", dir.display());
        }
        match exec.ended.as_ref().map(|ended| ended.exit) {
            Some(exit) if exit.code() == 127 && self.is_missing(exec, first) => {
                let first = if exec.desired.sensitive { super::execs::COMMAND } else { first };
                format!("Could not find command '{first}'")
            }
            Some(fx_host::Exit::TimedOut) => "Command exceeded timeout".to_owned(),
            Some(exit) if exec.desired.sensitive => format!(
                "[command redacted] returned {} instead of one of [{}]",
                exit.code(),
                returns.join(",")
            ),
            Some(exit) => format!(
                "'{command}' returned {} instead of one of [{}]",
                exit.code(),
                returns.join(",")
            ),
            None => message.to_owned(),
        }
    }

    /// Whether there is no such program, so that the shell's word for it need not be told.
    fn is_missing(&self, exec: &fx_resources::exec::Exec, program: &str) -> bool {
        if program.starts_with('/') {
            return self.run.host.stat(std::path::Path::new(program)).is_err();
        }
        let path = exec
            .desired
            .rules
            .env
            .iter()
            .find(|(name, _)| name == "PATH")
            .and_then(|(_, value)| value.clone())
            .unwrap_or_default();
        !path
            .to_string_lossy()
            .split(':')
            .any(|folder| self.run.host.stat(&std::path::Path::new(folder).join(program)).is_ok())
    }

    pub(super) fn tell_failure(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
        message: &str,
    ) {
        let message = super::secrets::shown(resource, &self.exec_failure(thing, message));
        if let Made::Exec(exec) = thing
            && !changes.is_empty()
        {
            if truth_word(resource, "logoutput") != Some(false)
                && !message.starts_with("Could not find command")
            {
                self.tell_output(path, exec, Level::Notice);
            }
            let returns: Vec<String> = if exec.desired.returns.is_empty() {
                vec!["'0'".into()]
            } else {
                exec.desired.returns.iter().map(|code| format!("'{code}'")).collect()
            };
            self.say(Level::Error, &message);
            self.say(
                Level::Error,
                &format!(
                    "{path}/returns: change from 'notrun' to [{}] failed: {message}",
                    returns.join(", ")
                ),
            );
            return;
        }
        if let Made::Obstructed(_) = thing {
            for _ in 0..2 {
                self.say(
                    Level::Notice,
                    &format!("{path}: Not removing directory; use 'force' to override"),
                );
            }
        }
        match changes.first() {
            Some(change) => {
                let (from, to) = (text_of(&change.from), text_of(&change.to));
                let message = self.file_failure(resource, thing, &to, &message);
                match message {
                    (message, Some(inner)) => {
                        self.say(Level::Error, &message);
                        self.say(Level::Error, &format!("{message}\nWrapped exception:\n{inner}"));
                        self.say(
                            Level::Error,
                            &format!(
                                "{path}/{}: change from '{from}' to '{to}' failed: {message}",
                                change.property
                            ),
                        );
                    }
                    (message, None) => {
                        let (from, to) = match thing {
                            Made::Ruby(ruby) => ruby.shown(&change.property),
                            _ => None,
                        }
                        .map_or_else(
                            || (format!("'{from}'"), format!("'{to}'")),
                            |(from, to)| (from.to_owned(), to.to_owned()),
                        );
                        let (from, to) = if super::secrets::is_marked(resource, &change.property) {
                            (REDACTED.to_owned(), REDACTED.to_owned())
                        } else {
                            (from, to)
                        };
                        self.say(Level::Error, &message);
                        let property = &change.property;
                        self.say(
                            Level::Error,
                            &format!(
                                "{path}/{property}: change from {from} to {to} failed: {message}"
                            ),
                        );
                    }
                }
            }
            None => self.say(Level::Error, &format!("{path}: Could not evaluate: {message}")),
        }
    }

    /// How the original words a file that could not be made, and what it wraps.
    fn file_failure(
        &self,
        resource: &Resource,
        thing: &Made,
        to: &str,
        message: &str,
    ) -> (String, Option<String>) {
        let place = self.place(resource);
        let path = attribute(resource, "path")
            .map_or_else(|| resource.title.to_string(), |path| interpolated(&path));
        let (is_missing, is_no_dir) =
            (message.ends_with("No such file or directory"), message.ends_with("Not a directory"));
        let above = std::path::Path::new(&path).parent().map(|dir| dir.display().to_string());
        let above = above.unwrap_or_default();
        let has_source = attribute(resource, "source").is_some();
        let has_content = attribute(resource, "content").is_some() || has_source;
        let inner = match thing {
            Made::Obstructed(one) if one.wanted == "link" => {
                return ("Could not remove existing file".into(), None);
            }
            Made::Obstructed(_) if has_content => {
                format!("Is a directory - Is a directory: {path}")
            }
            Made::Obstructed(_) => format!("Is a directory @ rb_sysopen - {path}"),
            _ if message.starts_with("could not find user ")
                || message.starts_with("could not find group ") =>
            {
                format!("C{}", &message[1..])
            }
            Made::Directory(_) if is_missing => {
                let why = format!("Cannot create {path}; parent directory {above} does not exist");
                return (why, None);
            }
            Made::Link(_) if is_missing => {
                format!("No such file or directory @ dir_chdir - {above}")
            }
            Made::File(_) | Made::Sourced(_) if is_no_dir => {
                format!("Not a directory @ rb_sysopen - {path}")
            }
            Made::File(_) if is_missing && !has_content => {
                format!("No such file or directory @ rb_sysopen - {path}")
            }
            Made::File(_) | Made::Sourced(_) if is_missing => format!(
                "No such file or directory - A directory component in {path}{}.lock does not exist or is a dangling symbolic link",
                self.temporary()
            ),
            Made::File(_) | Made::Sourced(_) if message.starts_with("new content of") => {
                return (self.refused_content(resource, &path, message), None);
            }
            Made::Sourced(_) if message.contains(" on SERVER: ") => message.to_owned(),
            _ => return (message.to_owned(), None),
        };
        (format!("Could not set '{to}' on ensure: {inner} {place}"), Some(inner))
    }

    /// How the original words content that its own check refused.
    fn refused_content(&self, resource: &Resource, path: &str, message: &str) -> String {
        let (_, reason) = message.split_once(" was refused: ").unwrap_or(("", message));
        let code =
            reason.lines().next().unwrap_or_default().split(' ').rev().find_map(|word| {
                word.trim_matches(|c: char| !c.is_ascii_digit()).parse::<i32>().ok()
            });
        let command = attribute(resource, "validate_cmd").map(|line| interpolated(&line));
        let token = attribute(resource, "validate_replacement")
            .map_or_else(|| "%".to_owned(), |token| interpolated(&token));
        let command =
            command.unwrap_or_default().replace(&token, &format!("{path}{}", self.temporary()));
        let output = reason.split_once('\n').map_or("", |(_, output)| output.trim_end());
        format!("Execution of '{command}' returned {}: {output}", code.unwrap_or(1))
    }
}
