//! The text of a crontab: jobs found by their comment, other lines left alone. Pure text.

use fx_engine::{Change, Target};

use crate::group::names;
use crate::text;

/// When a job runs. Empty fields mean every one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of crontab(5)")]
pub struct Schedule {
    pub minute: String,
    pub hour: String,
    pub monthday: String,
    pub month: String,
    pub weekday: String,
    /// One word such as `daily` or `reboot` instead of the five fields.
    pub special: Option<String>,
}

impl Schedule {
    /// The fields as written: five, or the one word.
    pub fn fields(&self) -> Vec<String> {
        if let Some(special) = &self.special {
            return vec![format!("@{special}")];
        }
        let fields = [&self.minute, &self.hour, &self.monthday, &self.month, &self.weekday];
        fields.map(|field| if field.is_empty() { "*".to_owned() } else { field.clone() }).to_vec()
    }

    // Reads the fields at the start of a line; what follows them.
    fn parse(line: &str) -> Option<(Schedule, &str)> {
        let word = |text: &str| -> Option<(String, usize)> {
            let start = text.len() - text.trim_start().len();
            let length = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
            (length > 0).then(|| (text[start..start + length].to_owned(), start + length))
        };
        if let Some(rest) = line.trim_start().strip_prefix('@') {
            let (special, end) = word(rest)?;
            return Some((
                Schedule { special: Some(special), ..Schedule::default() },
                &rest[end..],
            ));
        }
        let mut fields: [String; 5] = Default::default();
        let mut rest = line;
        for field in &mut fields {
            let (text, end) = word(rest)?;
            *field = if text == "*" { String::new() } else { text };
            rest = &rest[end..];
        }
        let [minute, hour, monthday, month, weekday] = fields;
        Some((Schedule { minute, hour, monthday, month, weekday, special: None }, rest))
    }
}

/// A job as it stands in a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Variables on the lines before it.
    pub environment: Vec<String>,
    /// When.
    pub schedule: Schedule,
    /// Who, in tables that say so.
    pub user: Option<String>,
    /// What.
    pub command: String,
}

impl Entry {
    fn lines(&self) -> Vec<String> {
        let mut lines = self.environment.clone();
        let mut words = self.schedule.fields();
        words.extend(self.user.clone());
        words.push(self.command.clone());
        lines.push(words.join(" "));
        lines
    }

    fn parse(line: &str, environment: Vec<String>, with_user: bool) -> Option<Entry> {
        let (schedule, rest) = Schedule::parse(line)?;
        let rest = rest.trim_start();
        let (user, command) = if with_user {
            let (user, command) = rest.split_once(char::is_whitespace)?;
            (Some(user.to_owned()), command.trim_start())
        } else {
            (None, rest)
        };
        Some(Entry { environment, schedule, user, command: command.to_owned() })
    }

    /// What must change to make it the wanted one.
    pub fn differences(&self, wanted: &Entry, target: &Target) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut compare = |property: &'static str, from: &str, to: &str| {
            if from != to {
                changes.push(Change::of(target.clone(), property, from, to));
            }
        };
        let (now, then) = (&self.schedule, &wanted.schedule);
        if now.special.is_some() || then.special.is_some() {
            compare("schedule", &now.fields().join(" "), &then.fields().join(" "));
        } else {
            let properties = ["minute", "hour", "monthday", "month", "weekday"];
            for ((property, from), to) in properties.iter().zip(now.fields()).zip(then.fields()) {
                compare(property, &from, &to);
            }
        }
        let user = |entry: &Entry| entry.user.clone().unwrap_or_default();
        compare("user", &user(self), &user(wanted));
        compare("command", &self.command, &wanted.command);
        if self.environment != wanted.environment {
            let (from, to) = (names(&self.environment), names(&wanted.environment));
            changes.push(Change::of(target.clone(), "environment", from, to));
        }
        changes
    }
}

/// Whether a line sets a variable.
pub fn is_variable(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end();
        !name.is_empty()
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

// The lines a job takes: its comment, its variables, its own line. A comment without a
// job line behind it takes only itself.
fn span(lines: &[&str], marker: &str, name: &str) -> Option<(usize, usize)> {
    let comment = format!("# {marker}: {name}");
    let start = lines.iter().position(|line| line.trim_end() == comment)?;
    let mut end = start + 1;
    while lines.get(end).is_some_and(|line| is_variable(line)) {
        end += 1;
    }
    let is_job = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    Some(if lines.get(end).is_some_and(is_job) { (start, end + 1) } else { (start, start + 1) })
}

fn split(text: &[u8]) -> Vec<String> {
    text::lines(text).map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

fn joined(lines: &[&str]) -> Vec<u8> {
    text::join(lines.iter().map(|line| line.as_bytes()))
}

/// The job with this name.
pub fn find(text: &[u8], marker: &str, name: &str, with_user: bool) -> Option<Entry> {
    let owned = split(text);
    let lines: Vec<&str> = owned.iter().map(String::as_str).collect();
    let (start, end) = span(&lines, marker, name)?;
    let job = if end > start + 1 { lines[end - 1] } else { "" };
    let environment = lines[start + 1..(end - 1).max(start + 1)].iter().map(|l| (*l).to_owned());
    let environment = environment.collect();
    Some(Entry::parse(job, environment, with_user).unwrap_or_default())
}

/// The text with the job in place of the old one, or at the end.
pub fn set(text: &[u8], marker: &str, name: &str, entry: &Entry) -> Vec<u8> {
    let owned = split(text);
    let mut lines: Vec<&str> = owned.iter().map(String::as_str).collect();
    let comment = format!("# {marker}: {name}");
    let new = entry.lines();
    let block = std::iter::once(comment.as_str()).chain(new.iter().map(String::as_str));
    let (start, end) = span(&lines, marker, name).unwrap_or((lines.len(), lines.len()));
    lines.splice(start..end, block);
    joined(&lines)
}

/// The text without the job, also where it stands twice.
pub fn remove(text: &[u8], marker: &str, name: &str) -> Vec<u8> {
    let owned = split(text);
    let mut lines: Vec<&str> = owned.iter().map(String::as_str).collect();
    while let Some((start, end)) = span(&lines, marker, name) {
        lines.drain(start..end);
    }
    joined(&lines)
}
