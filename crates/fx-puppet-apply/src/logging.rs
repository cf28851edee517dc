//! What is logged of changes, output and failures: typed messages from what was observed and
//! done. Their words are in [`super::wording`].

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use fx_engine::{Change, Detail, Failure, FailureKind, Level, NoProgram};
use fx_formats::Sides;
use fx_host::Exit;
use fx_puppet::text::interpolated;
use fx_puppet::{Resource, Value};
use fx_resources::exec::Exec;
use fx_value::REDACTED;

use super::attributes::{attribute, is_secret, text};
use super::engine_resource::Made;
use super::log::{Entry, Source, Weight};
use super::transaction::Transaction;
use super::wording::{self, FileFailure, FileForm, Message, text_of};

/// What was logged of a change of a property.
pub(super) struct Logged {
    pub(super) property: Cow<'static, str>,
    pub(super) words: Rc<str>,
}

/// How important the messages of a resource are, as it says itself.
pub(super) fn loglevel(resource: &Resource) -> Weight {
    match text(resource, "loglevel").as_deref() {
        Some("alert") => Weight::Worse("alert"),
        Some("emerg") => Weight::Worse("emerg"),
        Some("crit") => Weight::Worse("crit"),
        Some("err") => Level::Error.into(),
        Some("warning") => Level::Warning.into(),
        Some("info" | "verbose") => Level::Info.into(),
        Some("debug") => Level::Debug.into(),
        _ => Level::Notice.into(),
    }
}

pub(super) fn truth_word(resource: &Resource, name: &str) -> Option<bool> {
    match text(resource, name)?.as_str() {
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
                out.push_str(&fx_puppet::text::program_text(key));
                out.push_str(" => ");
                pretty(value, depth + 1, out);
                out.push_str(if number + 1 < hash.len() { ",\n" } else { "\n" });
            }
            out.push_str(&"  ".repeat(depth));
            out.push('}');
        }
        other => out.push_str(&fx_puppet::text::program_text(other)),
    }
}

/// Lines of a command's output that are shown and reported.
const MOST_LINES: usize = 10_000;

/// Whether a file is to be there as the manifest's own word `present` has it: a source decides itself what it makes.
fn is_plainly_present(resource: &Resource, property: &str, to: &str) -> bool {
    let says = |name: &str| text(resource, name);
    &*resource.low == "file"
        && (property, to) == ("ensure", "file")
        && says("ensure").as_deref() == Some("present")
        && says("source").is_none()
}

/// The value that a change asks for, in the words of the manifest.
fn wanted(resource: &Resource, change: &Change) -> String {
    match text_of(&change.to) {
        to if is_plainly_present(resource, &change.property, &to) => "present".to_owned(),
        to => to,
    }
}

impl Transaction<'_> {
    fn add(&self, entry: Entry) -> Rc<str> {
        entry.show(self.run);
        let words = Rc::clone(&entry.words);
        self.logs.borrow_mut().push(entry);
        words
    }

    /// Logs something of the run.
    pub(super) fn log(&self, level: Level, message: &Message) {
        self.add(Entry::new(self.run, level, Source::Run, message));
    }

    /// Logs something of a resource, by its path, or of a container, by its name.
    pub(super) fn log_of(&self, name: &Rc<str>, weight: impl Into<Weight>, message: &Message) {
        let mut entry = Entry::new(self.run, weight, Source::Named(Rc::clone(name)), message);
        entry.place.clone_from(&self.place);
        self.add(entry);
    }

    /// Logs what happened to a property.
    pub(super) fn log_property(
        &self,
        path: &Rc<str>,
        property: impl Into<Cow<'static, str>>,
        weight: impl Into<Weight>,
        message: &Message,
    ) -> Logged {
        let property = property.into();
        let source = Source::Property(Rc::clone(path), property.clone());
        let mut entry = Entry::new(self.run, weight, source, message);
        entry.place.clone_from(&self.place);
        if self.corrective.borrow().contains(&*property) {
            entry.words = wording::corrective(&entry.words).into();
        }
        Logged { property, words: self.add(entry) }
    }

    /// Logs what a property says itself: its name is a tag of the message then.
    pub(super) fn log_by_property(
        &self,
        path: &Rc<str>,
        property: &'static str,
        weight: impl Into<Weight>,
        message: &Message,
    ) {
        let source = Source::Property(Rc::clone(path), property.into());
        let mut entry = Entry::new(self.run, weight, source, message);
        entry.place.clone_from(&self.place);
        entry.tag = Some(property);
        self.add(entry);
    }

    /// Logs what code of a module said.
    pub(super) fn log_said(&self, resource: &Resource, said: &[fx_puppet::Said]) {
        for one in said {
            let words = super::secrets::shown(resource, &one.text);
            let message = Message::Verbatim(words);
            match &one.source {
                Some((name, true)) => self.log_of(name, one.level, &message),
                Some((name, false)) => {
                    let source = Source::Named(Rc::clone(name));
                    self.add(Entry::new(self.run, one.level, source, &message));
                }
                None => self.log(one.level, &message),
            }
        }
    }

    /// Logs what was changed, each property for itself.
    pub(super) fn log_changes(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &Made,
        changes: &[Change],
    ) -> Vec<Logged> {
        let weight = loglevel(resource);
        match thing {
            Made::Stubborn(_) => {
                self.log_of(path, Level::Notice, &Message::DirectoryStays);
                return vec![self.log_property(path, "ensure", weight, &Message::Removed)];
            }
            Made::Notify(notify) => {
                return vec![self.log_notify(resource, path, &notify.message, weight)];
            }
            Made::Exec(exec) => {
                if truth_word(resource, "logoutput") == Some(true) {
                    self.log_output(path, exec, weight);
                }
                let message = &Message::Executed;
                return vec![self.log_property(path, "returns", weight, message)];
            }
            _ => {}
        }
        if let Some(ensure) = changes.iter().find(|change| change.property == "ensure") {
            let content = changes.iter().find(|change| change.property == "content");
            let is_secret = is_secret(resource, "ensure");
            let message = wording::ensured(resource, ensure, content, is_secret);
            return vec![self.log_property(path, ensure.property.clone(), weight, &message)];
        }
        let one = |change: &Change| {
            if change.property == "content" {
                self.log_diff(resource, path, change, weight);
            }
            let message = self.changed(resource, change);
            self.log_property(path, change.property.clone(), weight, &message)
        };
        changes.iter().map(one).collect()
    }

    fn log_notify(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        text: &str,
        weight: Weight,
    ) -> Logged {
        // Of several values the first is shown.
        let given = match attribute(resource, "message") {
            Some(Value::Array(items)) => items.first().cloned(),
            given => given,
        };
        let shown = match given {
            Some(value @ Value::Hash(_)) => shown_message(&value),
            Some(value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => {
                fx_puppet::text::program_text(&value)
            }
            _ => fx_puppet::text::program_text(&Value::from(text)),
        };
        let own = Message::Verbatim(text.to_owned());
        if truth_word(resource, "withpath") == Some(true) {
            self.log_by_property(path, "message", weight, &own);
        } else {
            self.add(Entry::new(self.run, weight, Source::Run, &own));
        }
        let message = if is_secret(resource, "message") {
            Message::ChangedSecret
        } else {
            Message::Defined { property: "message".into(), to: shown }
        };
        self.log_property(path, "message", weight, &message)
    }

    fn changed(&self, resource: &Resource, change: &Change) -> Message {
        let name = &*change.property;
        if is_secret(resource, name) {
            return Message::ChangedSecret;
        }
        if let Some(Detail::Text(text)) = &change.detail {
            return Message::Verbatim(text.clone());
        }
        let from = text_of(&change.from);
        let property = name.to_owned();
        let is_list = matches!(name, "groups" | "members");
        let to = self.shown_to(resource, change);
        if from == "absent" || (from.is_empty() && !is_list) {
            return Message::Defined { property, to };
        }
        let from = match wording::names(name, &change.from) {
            Some(names) => names.join(","),
            None => wording::shown(resource, name, &from),
        };
        Message::Changed { property, from, to, letters: wording::letters(resource, name) }
    }

    /// The new value of a property as it is shown.
    fn shown_to(&self, resource: &Resource, change: &Change) -> String {
        let name = &*change.property;
        match wording::names(name, &change.to) {
            Some(names) => wording::shown_names(&names),
            None => {
                let to = wanted(resource, change);
                let to = super::names::account(self.run.look(), resource, name, to);
                wording::shown(resource, name, &to)
            }
        }
    }

    /// The difference between old and new content, where it is wanted.
    fn log_diff(&self, resource: &Resource, path: &Rc<str>, change: &Change, weight: Weight) {
        if !self.show_diff || truth_word(resource, "show_diff") == Some(false) {
            return;
        }
        let log = |message| self.log_by_property(path, "content", weight, &message);
        if is_secret(resource, "content") {
            return log(Message::DiffRedacted);
        }
        let Some(Detail::Content { old, new }) = &change.detail else { return };
        let file = text(resource, "path").unwrap_or_else(|| resource.title.to_string());
        if let Some(text) = self.diff(&file, old, new) {
            log(Message::Diff(text));
        }
    }

    /// A unified diff under the names and in the form of `diff -u`, which the original runs.
    fn diff(&self, file: &str, old: &[u8], new: &[u8]) -> Option<String> {
        if old == new {
            return None;
        }
        let other = match self.temporary() {
            Some(ending) => format!("/tmp/puppet-file{ending}"),
            None => file.to_owned(),
        };
        let now = self.run.look().now();
        let time = fx_puppet::local_time(self.run.look(), now.secs);
        let time = format!("{}.{:09} {}", time.strftime("%F %T"), now.nanos, time.strftime("%z"));
        let (before, after) = (format!("{file}\t{time}"), format!("{other}\t{time}"));
        let diff = fx_formats::unified(Sides { before: &before, after: &after }, old, new);
        diff.or_else(|| Some(format!("Binary files {file} and {other} differ\n")))
    }

    /// The ending of a temporary file as Ruby makes it: the day, the process, and chance. We
    /// have no such file, but the recorded lines of `puppet apply` demand a name of this form in
    /// three places: the second file of a diff (`file_diff`), the command of `validate_cmd`
    /// (`file_validate_fail`), and the lock beside a file whose directory is missing
    /// (`file_parent_missing`). Our own verbs name no file that is not there.
    fn temporary(&self) -> Option<String> {
        if self.explains {
            return None;
        }
        let look = self.run.look();
        let mut random = [0; 6];
        look.random(&mut random);
        let chance: String = random.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
        let day = fx_puppet::local_time(look, look.now().secs);
        Some(format!("{}-{}-{chance}", day.strftime("%Y%m%d"), look.pid()))
    }

    /// Logs what would be changed.
    pub(super) fn log_withheld(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &Made,
        changes: &[Change],
    ) -> Vec<Logged> {
        let one = |change: &&Change| {
            if change.property == "content" {
                self.log_diff(resource, path, change, Level::Notice.into());
            }
            let (from, to) = self.shown_values(resource, thing, change);
            let message = Message::Withheld { from, to };
            self.log_property(path, change.property.clone(), Level::Notice, &message)
        };
        super::attempt::counted(changes).iter().map(one).collect()
    }

    /// Both values of a change that was withheld, as they are shown.
    fn shown_values(&self, resource: &Resource, thing: &Made, change: &Change) -> (String, String) {
        let name = &*change.property;
        if let Made::Exec(exec) = thing {
            return ("'notrun'".to_owned(), wording::codes(&exec.desired.returns));
        }
        if is_secret(resource, name) {
            return (REDACTED.to_owned(), REDACTED.to_owned());
        }
        if let Made::Ruby(ruby) = thing
            && let Some((from, to)) = ruby.shown(name)
        {
            return (from.to_owned(), to.to_owned());
        }
        match (wording::names(name, &change.from), wording::names(name, &change.to)) {
            (Some(from), Some(to)) => (from.join(","), format!("'{}'", to.join(","))),
            _ => {
                let letters = wording::letters(resource, name);
                let letters = letters.map(|mode| format!(" ({mode})")).unwrap_or_default();
                let from = wording::shown(resource, name, &text_of(&change.from));
                (from, format!("{}{letters}", self.shown_to(resource, change)))
            }
        }
    }

    /// Logs what a command printed.
    pub(super) fn log_output(&self, path: &Rc<str>, exec: &Exec, weight: impl Into<Weight>) {
        let Some(ended) = &exec.ended else { return };
        let weight = weight.into();
        let log = |message: &Message| self.log_by_property(path, "returns", weight, message);
        if exec.desired.sensitive {
            return log(&Message::OutputRedacted);
        }
        let (out, error) =
            (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        let mut lines = out.lines().chain(error.lines());
        for line in lines.by_ref().take(MOST_LINES) {
            log(&Message::Verbatim(line.to_owned()));
        }
        // Each line is a message of the report as well, which is kept until the end.
        let left = lines.count();
        if left > 0 {
            log(&Message::OutputCut(left));
        }
    }

    /// What a command printed that failed, unless nobody is to see it or nothing was run.
    pub(super) fn log_output_of_failure(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        exec: &Exec,
        failure: &Failure,
    ) {
        let is_missing = matches!(failure, Failure::NoProgram { why: NoProgram::Missing, .. })
            || self.missing_program(exec).is_some();
        // What a command printed until its time was over is lost.
        let shows = !is_missing && failure.kind() != FailureKind::TimedOut;
        if shows && truth_word(resource, "logoutput") != Some(false) {
            self.log_output(path, exec, loglevel(resource));
        }
    }

    /// The failure of a resource in the words of the original.
    pub(super) fn failure_words(
        &self,
        resource: &Resource,
        thing: &Made,
        changes: &[Change],
        failure: &Failure,
        refreshes: bool,
    ) -> String {
        let words = match (thing, failure) {
            (Made::Exec(exec), _) => self.exec_failure(exec, failure),
            (_, Failure::RefusedContent { path, check }) => {
                let ending = self.temporary().unwrap_or_default();
                wording::refused_content(resource, path, &ending, check)
            }
            (Made::Service(service), Failure::Command { command, .. })
                if service.manager() == "systemd"
                    && command.split(' ').next() == Some("systemctl") =>
            {
                let verb = wording::verb_of_service(changes, refreshes);
                wording::systemd_failure(resource, verb, &self.journal(&service.desired.name))
            }
            (_, Failure::Command { command, exit: Exit::Code(code), output })
                if wording::wraps_programs(resource) =>
            {
                let shown = super::names::whole_path(self.run.look(), command);
                let ended = (*code, output.as_str());
                wording::program_failure(resource, changes, (command, &shown), ended, refreshes)
            }
            _ => wording::failure(failure, &self.compiled.settings().environment),
        };
        super::secrets::shown(resource, &words)
    }

    /// The last lines of a unit's journal.
    fn journal(&self, unit: &str) -> String {
        let words = ["-n", "50", "--since", "5 minutes ago", "-u", unit, "--no-pager"];
        let words = std::iter::once("journalctl").chain(words).map(str::to_owned);
        let ended = self.run.look().query(&fx_host::Spec::argv(words));
        let text = ended.map(|ended| String::from_utf8_lossy(&ended.stdout).into_owned());
        text.unwrap_or_default().trim_end().to_owned()
    }

    fn exec_failure(&self, exec: &Exec, failure: &Failure) -> String {
        let desired = &exec.desired;
        if let (None, Some(dir)) = (&exec.ended, &desired.rules.cwd)
            && !self.run.look().stat(dir).is_ok_and(|meta| meta.is_dir())
        {
            return format!("Working directory {} does not exist!", dir.display());
        }
        let environment = &self.compiled.settings().environment;
        if let Failure::NoProgram { .. } = failure {
            return wording::failure(failure, environment);
        }
        if let Some(missing) = self.missing_program(exec) {
            return wording::failure(&missing, environment);
        }
        match exec.ended.as_ref().map(|ended| ended.exit) {
            Some(Exit::TimedOut) => "Command exceeded timeout".to_owned(),
            Some(exit) => {
                let command = command_line(exec);
                let command = (!desired.sensitive).then_some(command.as_str());
                wording::wrong_code(command, exit, &desired.returns)
            }
            None => wording::failure(failure, environment),
        }
    }

    /// A shell's word for a program that is not there, as a failure.
    fn missing_program(&self, exec: &Exec) -> Option<Failure> {
        let ended = exec.ended.as_ref()?;
        let command = command_line(exec);
        let first = command.split_whitespace().next().unwrap_or_default();
        if ended.exit.code() != 127 || !self.is_missing(exec, first) {
            return None;
        }
        let program = if exec.desired.sensitive { super::execs::COMMAND } else { first };
        Some(Failure::NoProgram { program: program.to_owned(), why: NoProgram::Missing })
    }

    /// Whether there is no such program, so that the shell's word for it is not shown.
    fn is_missing(&self, exec: &Exec, program: &str) -> bool {
        let is_there = |path: &Path| self.run.look().stat(path).is_ok();
        if program.starts_with('/') {
            return !is_there(Path::new(program));
        }
        let mut env = exec.desired.rules.env.iter();
        let path = env.find(|(name, _)| name == "PATH").and_then(|(_, value)| value.clone());
        let path = path.unwrap_or_default();
        !path.to_string_lossy().split(':').any(|dir| is_there(&Path::new(dir).join(program)))
    }

    /// Logs why a resource failed; what is said of the property that failed, if one did.
    pub(super) fn log_failure(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &Made,
        changes: &[Change],
        failure: &Failure,
    ) -> Option<Logged> {
        let why = self.failure_words(resource, thing, changes, failure, false);
        let Some(change) = changes.first() else {
            self.log_of(path, Level::Error, &Message::NotEvaluated(why));
            return None;
        };
        if let Made::Exec(exec) = thing {
            self.log_output_of_failure(resource, path, exec, failure);
            let (from, to) = ("'notrun'".to_owned(), wording::codes(&exec.desired.returns));
            return Some(self.log_change_failure(path, change, from, to, why));
        }
        if let Made::Obstructed(_) = thing {
            for _ in 0..2 {
                self.log_of(path, Level::Notice, &Message::DirectoryStays);
            }
        }
        let (from, to) = (text_of(&change.from), wanted(resource, change));
        let (why, cause) = match self.file_failure(resource, thing, failure) {
            FileFailure::Plain => (why, None),
            FileFailure::Alone(why) => (why, None),
            FileFailure::Cause(inner) => {
                let place = self.place(resource);
                (format!("Could not set '{to}' on ensure: {inner} {place}"), Some(inner))
            }
        };
        let shown = match thing {
            Made::Ruby(ruby) => ruby.shown(&change.property),
            _ => None,
        };
        let (from, to) = match shown {
            _ if super::secrets::is_marked(resource, &change.property) => {
                (REDACTED.to_owned(), REDACTED.to_owned())
            }
            Some((from, to)) => (from.to_owned(), to.to_owned()),
            None => (format!("'{from}'"), format!("'{to}'")),
        };
        if let Some(inner) = cause {
            self.log(Level::Error, &Message::Failed(why.clone()));
            let wrapped = Message::Wrapped { why: why.clone(), inner };
            self.log(Level::Error, &wrapped);
            let message = Message::ChangeFailed { from, to, why };
            return Some(self.log_property(path, change.property.clone(), Level::Error, &message));
        }
        Some(self.log_change_failure(path, change, from, to, why))
    }

    /// A failure by itself, and of the property it belongs to.
    pub(super) fn log_change_failure(
        &self,
        path: &Rc<str>,
        change: &Change,
        from: String,
        to: String,
        why: String,
    ) -> Logged {
        self.log(Level::Error, &Message::Failed(why.clone()));
        let message = Message::ChangeFailed { from, to, why };
        self.log_property(path, change.property.clone(), Level::Error, &message)
    }

    fn file_failure(&self, resource: &Resource, thing: &Made, failure: &Failure) -> FileFailure {
        let form = match thing {
            // What is missed is an account, whatever the resource is.
            _ if matches!(failure, Failure::NoUser(_) | Failure::NoGroup(_)) => FileForm::File,
            Made::Obstructed(one) if one.wanted == "link" => FileForm::Link,
            Made::Obstructed(_) | Made::File(_) | Made::Sourced(_) => FileForm::File,
            Made::Directory(_) => FileForm::Directory,
            Made::Link(_) => FileForm::Link,
            _ => return FileFailure::Plain,
        };
        let path = text(resource, "path").unwrap_or_else(|| resource.title.to_string());
        let has_content =
            ["content", "source"].iter().any(|name| attribute(resource, name).is_some());
        let lock = self.temporary().map(|ending| format!("{ending}.lock")).unwrap_or_default();
        wording::file_failure(form, Path::new(&path), has_content, &lock, failure)
    }
}

/// The line of a command.
fn command_line(exec: &Exec) -> String {
    match &exec.desired.command {
        Some(fx_host::Program::Shell(line)) => line.to_string_lossy().into_owned(),
        Some(fx_host::Program::Argv(words)) => {
            let words = words.iter().map(|word| format!("{:?}", word.to_string_lossy()));
            format!("[{}]", words.collect::<Vec<_>>().join(", "))
        }
        None => String::new(),
    }
}
