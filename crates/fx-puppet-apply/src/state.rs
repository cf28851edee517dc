//! What is kept between runs: audited values, and when a resource last had its turn.
//!
//! The file has the original's form: symbols for what the engine notes, plain names for
//! values.

use std::path::{Path, PathBuf};

use fx_host::{Act, Look, Time};
use fx_puppet::Value;
use fx_puppet::text::interpolated;
use indexmap::IndexMap;

/// The state file's content.
#[derive(Debug, Default)]
pub(super) struct State {
    file: Option<PathBuf>,
    is_new: bool,
    values: IndexMap<String, Entry>,
}

/// What is kept of one resource.
#[derive(Debug, Default)]
struct Entry {
    checked: Option<Time>,
    synced: Option<Time>,
    audited: IndexMap<String, String>,
}

impl State {
    /// Reads the state; a file that cannot be read counts as empty.
    pub(super) fn read(host: &dyn Look, file: Option<&Path>) -> State {
        let mut state = State { file: file.map(Path::to_path_buf), ..State::default() };
        let text = file.and_then(|file| host.read_opt(file).ok().flatten());
        state.is_new = text.is_none();
        let text = text.unwrap_or_default();
        state.parse(&String::from_utf8_lossy(&text));
        state
    }

    fn parse(&mut self, text: &str) {
        if self.parse_own(text).is_none() {
            self.values.clear();
            self.parse_any(text);
        }
    }

    /// What this engine wrote is read line by line; there may be much of it.
    fn parse_own(&mut self, text: &str) -> Option<()> {
        let mut lines = text.lines();
        if lines.next()? != "---" {
            return None;
        }
        let mut at: Option<(String, Entry)> = None;
        for line in lines {
            if let Some(rest) = line.strip_prefix("  :") {
                let entry = &mut at.as_mut()?.1;
                let (name, value) = rest.split_once(": ")?;
                match name {
                    "checked" => entry.checked = Some(moment_of(value)?),
                    "synced" => entry.synced = Some(moment_of(value)?),
                    _ => {
                        let value = serde_json::from_str::<String>(value).ok()?;
                        entry.audited.insert(name.to_owned(), value);
                    }
                }
            } else {
                let key = line.strip_suffix(':').filter(|key| key.starts_with('"'))?;
                let key = if key.contains('\\') {
                    serde_json::from_str::<String>(key).ok()?
                } else {
                    key.strip_prefix('"')?.strip_suffix('"')?.to_owned()
                };
                if let Some((key, entry)) = at.replace((key, Entry::default())) {
                    self.values.insert(key, entry);
                }
            }
        }
        if let Some((key, entry)) = at {
            self.values.insert(key, entry);
        }
        Some(())
    }

    fn parse_any(&mut self, text: &str) {
        let Ok(Value::Hash(all)) = fx_puppet::parse_yaml(text) else { return };
        for (resource, values) in &*all {
            let Value::Hash(values) = values else { continue };
            let mut entry = Entry::default();
            for (key, value) in &**values {
                match interpolated(key).trim_start_matches(':') {
                    "checked" => entry.checked = moment(value),
                    "synced" => entry.synced = moment(value),
                    name => {
                        let name = name.to_owned();
                        entry.audited.insert(name, interpolated(value));
                    }
                }
            }
            self.values.insert(interpolated(resource), entry);
        }
    }

    /// The file, if it will be made anew.
    pub(super) fn new_file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|_| self.is_new)
    }

    pub(super) fn audited(&self, resource: &str, property: &str) -> Option<&String> {
        self.values.get(resource)?.audited.get(property)
    }

    pub(super) fn record(&mut self, resource: &str, property: &str, value: &str) {
        let entry = self.values.entry(resource.to_owned()).or_default();
        entry.audited.insert(property.to_owned(), value.to_owned());
    }

    /// When a resource last had its turn, in seconds.
    pub(super) fn checked(&self, resource: &str) -> Option<i64> {
        self.values.get(resource)?.checked.map(|time| time.secs)
    }

    /// A resource has its turn now.
    pub(super) fn check(&mut self, resource: &str, now: Time) {
        match self.values.get_mut(resource) {
            Some(entry) => entry.checked = Some(now),
            None => {
                let entry = Entry { checked: Some(now), ..Entry::default() };
                self.values.insert(resource.to_owned(), entry);
            }
        }
    }

    /// A resource was changed.
    pub(super) fn sync(&mut self, resource: &str, now: Time) {
        self.values.entry(resource.to_owned()).or_default().synced = Some(now);
    }

    fn text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut out = String::from("---\n");
        let mut said = (0, String::new());
        for (resource, entry) in &self.values {
            out.extend([&quoted(resource), ":\n"]);
            for (name, time) in [(":checked", entry.checked), (":synced", entry.synced)] {
                if let Some(time) = time {
                    // Most moments of a run lie in the same second.
                    if said.0 != time.secs || said.1.is_empty() {
                        let at = jiff::Timestamp::from_second(time.secs).unwrap_or_default();
                        said = (time.secs, at.strftime("%Y-%m-%d %H:%M:%S").to_string());
                    }
                    out.push_str(&format!("  {name}: {}.{:09} +00:00\n", said.1, time.nanos));
                }
            }
            for (name, value) in &entry.audited {
                out.extend(["  :", name, ": ", &quoted(value), "\n"]);
            }
        }
        if self.values.is_empty() {
            out.push_str("{}\n");
        }
        out
    }

    /// Writes the state, without the texts of secrets.
    pub(super) fn write(
        &self,
        host: &dyn Act,
        secrets: &fx_engine::Secrets,
    ) -> Result<(), fx_host::HostError> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(dir) = file.parent() {
            fx_resources::directory::make_parents(host, &dir.join("x"), 0o755).map_err(
                |failure| {
                    fx_host::HostError::io(
                        "create",
                        dir,
                        std::io::Error::other(failure.to_string()),
                    )
                },
            )?;
        }
        let options =
            fx_host::WriteOptions { mode: Some(0o660), ..fx_host::WriteOptions::default() };
        host.write(file, secrets.shown(&self.text()).as_bytes(), &options)
    }
}

/// A moment as the file has it.
fn moment(value: &Value) -> Option<Time> {
    moment_of(&interpolated(value))
}

fn moment_of(text: &str) -> Option<Time> {
    let mut parts = text.split_whitespace();
    let (date, time) = (parts.next()?, parts.next()?);
    let zone = parts.next().unwrap_or("Z").replace("UTC", "Z");
    let at: jiff::Timestamp = format!("{date}T{time}{zone}").parse().ok()?;
    Some(Time { secs: at.as_second(), nanos: at.subsec_nanosecond().unsigned_abs() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut state = State::default();
        state.check("File[/a]", Time { secs: 1_794_802_193, nanos: 220_842_072 });
        state.sync("File[/a]", Time { secs: 1_794_802_194, nanos: 0 });
        state.record("File[/a]", "mode", "0644");
        let mut again = State::default();
        assert!(again.parse_own(&state.text()).is_some(), "{}", state.text());
        assert_eq!(again.text(), state.text());
        let mut other = State::default();
        other.parse_any(&state.text());
        assert_eq!(other.text(), state.text());
        assert_eq!(again.checked("File[/a]"), Some(1_794_802_193));
        assert_eq!(again.audited("File[/a]", "mode").map(String::as_str), Some("0644"));
    }
}
