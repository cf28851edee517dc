//! The text of a crontab: jobs found by their comment, other lines left alone. Pure text.

use std::borrow::Cow;

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
    /// Its lines: the variables, and the job itself.
    pub fn lines(&self) -> Vec<String> {
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

/// Who wrote a job and what it is called: the comment by which it is found.
#[derive(Clone, Copy, Debug)]
pub struct Comment<'a> {
    /// The words before the name.
    pub marker: &'a str,
    /// The name.
    pub name: &'a str,
}

impl Comment<'_> {
    /// The line above a job.
    pub fn line(&self) -> String {
        format!("# {}: {}", self.marker, self.name)
    }
}

// The lines a job takes: its comment, its variables, its own line. A comment without a
// job line behind it takes only itself.
fn span(lines: &[&[u8]], comment: Comment<'_>) -> Option<(usize, usize)> {
    let comment = comment.line();
    let comment = comment.trim_end();
    let start = lines.iter().position(|line| line.trim_ascii_end() == comment.as_bytes())?;
    let mut end = start + 1;
    while lines.get(end).is_some_and(|line| is_variable(&text_of(line))) {
        end += 1;
    }
    let is_job = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    Some(if lines.get(end).is_some_and(is_job) { (start, end + 1) } else { (start, start + 1) })
}

fn text_of(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line)
}

/// The job with this comment.
pub fn find(table: &[u8], comment: Comment<'_>, with_user: bool) -> Option<Entry> {
    let lines: Vec<&[u8]> = text::lines(table).collect();
    let (start, end) = span(&lines, comment)?;
    let Some((job, environment)) = lines[start + 1..end].split_last() else {
        return Some(Entry::default());
    };
    let environment = environment.iter().map(|line| text_of(line).into_owned()).collect();
    Some(Entry::parse(&text_of(job), environment, with_user).unwrap_or_default())
}

/// The table with the job in place of the old one, or at the end. Other lines keep their bytes.
pub fn set(table: &[u8], comment: Comment<'_>, entry: &Entry) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text::lines(table).collect();
    let (heading, new) = (comment.line(), entry.lines());
    let block = std::iter::once(&heading).chain(&new).map(String::as_bytes);
    let (start, end) = span(&lines, comment).unwrap_or((lines.len(), lines.len()));
    lines.splice(start..end, block);
    text::join(lines)
}

/// The table without the job, also where it stands twice.
pub fn remove(table: &[u8], comment: Comment<'_>) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text::lines(table).collect();
    while let Some((start, end)) = span(&lines, comment) {
        lines.drain(start..end);
    }
    text::join(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

    const JOB: Comment<'_> = Comment { marker: "Chef Name", name: "ours" };

    /// Text that is a line of its own and says something.
    fn line() -> impl Strategy<Value = String> {
        "\\PC{0,8}".prop_map(|text| format!("x{text}").trim_end().to_owned())
    }

    fn field() -> impl Strategy<Value = String> {
        "[0-9,/-]{1,4}"
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let fields = (field(), field(), field(), field(), field());
        let schedule = fields.prop_map(|(minute, hour, monthday, month, weekday)| Schedule {
            minute,
            hour,
            monthday,
            month,
            weekday,
            special: None,
        });
        let variable =
            ("[A-Z_]{1,5}", "\\PC{0,6}").prop_map(|(name, value)| format!("{name}={value}"));
        let environment = prop::collection::vec(variable, 0..3);
        (schedule, environment, line()).prop_map(|(schedule, environment, command)| Entry {
            environment,
            schedule,
            user: None,
            command,
        })
    }

    proptest! {
        #[test]
        fn a_job_reads_back_as_it_was_written(
            before in prop::collection::vec(any::<u8>(), 0..60), entry in entry(), name in line(),
        ) {
            let comment = Comment { name: &name, ..JOB };
            let table = set(&before, comment, &entry);
            prop_assert_eq!(find(&table, comment, false), Some(entry.clone()));
            prop_assert_eq!(set(&table, comment, &entry), table, "a second time changes nothing");
        }

        #[test]
        fn lines_of_others_keep_their_bytes(
            others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..6),
            entry in entry(),
        ) {
            let others = others.join(&b'\n');
            let table = set(&others, JOB, &entry);
            prop_assert_eq!(remove(&table, JOB), text::join(text::lines(&others)));
        }
    }

    #[test]
    fn a_comment_without_a_job_takes_only_itself() {
        let table = b"# Chef Name: ours\n\n# Chef Name: theirs\n* * * * * x\n";
        assert_eq!(find(table, JOB, false), Some(Entry::default()));
        assert_eq!(remove(table, JOB), b"\n# Chef Name: theirs\n* * * * * x\n");
    }
}
