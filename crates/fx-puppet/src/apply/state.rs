//! What is kept between runs: audited values and when a resource was last looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fx_host::Host;

use crate::eval::interpolated;
use crate::value::Value;

/// The state file's content.
#[derive(Debug, Default)]
pub(super) struct State {
    file: Option<PathBuf>,
    is_new: bool,
    values: BTreeMap<String, BTreeMap<String, String>>,
}

impl State {
    /// Reads the state; a file that cannot be read counts as empty.
    pub(super) fn read(host: &dyn Host, file: Option<&Path>) -> State {
        let mut state = State { file: file.map(Path::to_path_buf), ..State::default() };
        let text = file.and_then(|file| host.read_opt(file).ok().flatten());
        state.is_new = text.is_none();
        let parsed = text.and_then(|text| crate::yaml::parse(&String::from_utf8_lossy(&text)).ok());
        if let Some(Value::Hash(all)) = parsed {
            for (resource, values) in &*all {
                if let Value::Hash(values) = values {
                    let values =
                        values.iter().map(|(key, value)| (interpolated(key), interpolated(value)));
                    state.values.insert(interpolated(resource), values.collect());
                }
            }
        }
        state
    }

    /// The file, if it will be made anew.
    pub(super) fn new_file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|_| self.is_new)
    }

    pub(super) fn audited(&self, resource: &str, property: &str) -> Option<&String> {
        self.values.get(resource)?.get(property)
    }

    pub(super) fn record(&mut self, resource: &str, property: &str, value: &str) {
        let values = self.values.entry(resource.to_owned()).or_default();
        values.insert(property.to_owned(), value.to_owned());
    }

    /// Writes the state.
    pub(super) fn write(&self, host: &dyn Host) -> Result<(), fx_host::HostError> {
        let Some(file) = &self.file else { return Ok(()) };
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut out = String::from("---\n");
        for (resource, values) in &self.values {
            out.push_str(&format!("{}:\n", quoted(resource)));
            for (name, value) in values {
                out.push_str(&format!("  {}: {}\n", quoted(name), quoted(value)));
            }
        }
        if self.values.is_empty() {
            out.push_str("{}\n");
        }
        if let Some(dir) = file.parent() {
            fx_resources::directory::make_parents(host, &dir.join("x"), 0o755).map_err(
                |failure| {
                    fx_host::HostError::io("create", dir, std::io::Error::other(failure.message))
                },
            )?;
        }
        let options =
            fx_host::WriteOptions { mode: Some(0o640), ..fx_host::WriteOptions::default() };
        host.write(file, out.as_bytes(), &options)
    }
}
