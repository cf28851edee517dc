//! Where `--logdest` sends messages: a file in the original's plain form, or in its JSON form
//! where the name ends in `.json`. Written when the run is over.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Event, Level, Sink};
use fx_host::{Clock, Edits, Files, OsHost, Time};
use fx_source::{visible, visible_name};
use fx_value::Value;

/// Messages for one file.
pub(super) struct LogFile {
    path: PathBuf,
    host: Rc<OsHost>,
    most: Level,
    rows: RefCell<Vec<Row>>,
    /// Who the next message is from, and its words alone.
    next: RefCell<Option<(String, String)>>,
}

/// One message.
struct Row {
    time: Time,
    level: &'static str,
    source: String,
    message: String,
}

/// A field of a note as text, if it has it.
fn field(fields: &[(Cow<'static, str>, Value)], name: &str) -> Option<String> {
    let (_, value) = fields.iter().find(|(key, _)| key == name)?;
    Some(String::from_utf8_lossy(value.as_bytes()?).into_owned())
}

/// Who a note says a message is from, and its words alone.
fn speaker(fields: &[(Cow<'static, str>, Value)]) -> Option<(String, String)> {
    Some((field(fields, "source")?, field(fields, "message")?))
}

impl LogFile {
    /// A file that takes messages down to a level.
    pub(super) fn new(path: PathBuf, host: Rc<OsHost>, most: Level) -> LogFile {
        LogFile { path, host, most, rows: RefCell::default(), next: RefCell::default() }
    }

    fn add(&self, level: Level, text: &str, speaker: Option<(String, String)>) {
        if level > self.most {
            return;
        }
        let word = match level {
            Level::Error => "err",
            Level::Warning => "warning",
            Level::Notice => "notice",
            Level::Info => "info",
            _ => "debug",
        };
        let (source, message) = speaker.unwrap_or_else(|| ("Puppet".to_owned(), text.to_owned()));
        let time = self.host.now();
        self.rows.borrow_mut().push(Row { time, level: word, source, message });
    }

    /// Writes everything to the end of the file.
    pub(super) fn write(&self) -> Result<(), String> {
        let rows = self.rows.take();
        let is_json = self.path.extension().is_some_and(|ending| ending == "json");
        let mut out = String::new();
        let fresh = !self.host.exists(&self.path).unwrap_or(false);
        for (number, Row { time, level, source, message }) in rows.iter().enumerate() {
            let at = jiff::Timestamp::from_second(time.secs).unwrap_or_default();
            if is_json {
                out.push_str(if fresh && number == 0 { "[\n" } else { ",\n" });
                let row = serde_json::json!({
                    "level": level, "message": message, "source": source, "tags": [level],
                    "time": format!("{}.{:09}+00:00", at.strftime("%Y-%m-%dT%H:%M:%S"), time.nanos),
                });
                let _ = writeln!(out, "{row}");
            } else {
                let at = at.strftime("%Y-%m-%d %H:%M:%S");
                let (source, message) = (visible_name(source), visible(message));
                for line in message.lines() {
                    let _ = writeln!(out, "{at} +0000 {source} ({level}): {line}");
                }
            }
        }
        if let Some(above) = self.path.parent() {
            let mut missing: Vec<_> = above
                .ancestors()
                .take_while(|dir| !self.host.exists(dir).unwrap_or(true))
                .collect();
            while let Some(dir) = missing.pop() {
                self.host.make_dir(dir, 0o755).map_err(|error| error.to_string())?;
            }
        }
        self.host.append(&self.path, out.as_bytes(), 0o644).map_err(|error| error.to_string())
    }
}

impl Sink for LogFile {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Message { level, text, .. } => self.add(*level, text, self.next.take()),
            // The message that follows is from somebody.
            Event::Note { code: "puppet.source", fields, .. } => {
                *self.next.borrow_mut() = speaker(fields);
            }
            Event::Note { code: "puppet.line", fields, .. } => {
                let is_notice = field(fields, "level").as_deref() == Some("notice");
                let level = if is_notice { Level::Notice } else { Level::Info };
                let text = field(fields, "text").unwrap_or_default();
                self.add(level, &text, speaker(fields));
            }
            _ => {}
        }
    }
}
