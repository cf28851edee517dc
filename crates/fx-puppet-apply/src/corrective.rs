//! What an agent wanted of each property in its last run, kept in `transactionstore.yaml`: a
//! change is corrective where something else than the agent changed the property since.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fx_engine::Change;
use fx_host::{Act, HostError, Look};
use fx_puppet::text::interpolated;
use fx_puppet::{Resource, Value, is_metaparameter};
use fx_resources::digest::{self, Algorithm};

use super::attributes::{is_secret, list, text};
use super::status::{EventStatus, Status};
use super::wording::text_of;

type Properties = BTreeMap<String, Vec<String>>;

/// The store of a run; without a file nothing is corrective.
#[derive(Debug, Default)]
pub(super) struct Store {
    file: Option<PathBuf>,
    old: BTreeMap<String, Properties>,
    new: RefCell<BTreeMap<String, Properties>>,
}

/// Properties that differ from run to run by themselves.
fn is_idempotent(resource: &Resource) -> bool {
    &*resource.low != "notify"
}

/// Attributes that every resource has, and those of files that are no properties.
fn is_property(resource: &Resource, name: &str) -> bool {
    const NAMES: &[&str] = &["name", "provider", "path", "title"];
    const OF_FILES: &[&str] = &[
        "source",
        "sourceselect",
        "backup",
        "recurse",
        "recurselimit",
        "purge",
        "force",
        "links",
        "replace",
        "ignore",
        "checksum",
        "show_diff",
        "validate_cmd",
        "source_permissions",
        "max_files",
    ];
    let is_own = !is_metaparameter(name) && !NAMES.contains(&name);
    match &*resource.low {
        "exec" => name == "returns",
        "file" => is_own && !OF_FILES.contains(&name),
        _ => is_own,
    }
}

fn sha256(bytes: &[u8]) -> String {
    format!("{{sha256}}{}", Algorithm::Sha256.hex(bytes))
}

/// What is wanted of the properties of a resource, as far as its declaration says it.
fn wanted(resource: &Resource) -> Properties {
    let mut found = Properties::new();
    for name in resource.attributes.keys() {
        if !is_property(resource, name) || is_secret(resource, name) {
            continue;
        }
        let mut values: Vec<String> = list(resource, name).iter().map(interpolated).collect();
        if &*resource.low == "file" && &**name == "content" {
            values = values.iter().map(|text| sha256(text.as_bytes())).collect();
        }
        if !values.is_empty() {
            found.insert(name.to_string(), values);
        }
    }
    let default = match &*resource.low {
        "exec" => Some(("returns", "0")),
        "package" => Some(("ensure", "present")),
        _ => None,
    };
    if let Some((name, value)) = default {
        found.entry(name.into()).or_insert_with(|| vec![value.into()]);
    }
    found
}

/// Whether a value that was found is one that was wanted.
fn is_in_sync(property: &str, wanted: &[String], found: &str) -> bool {
    let is_there = |text: &str| !matches!(text, "absent" | "purged" | "");
    let one = |wanted: &String| {
        let wanted = wanted.trim_start_matches(':');
        match property {
            _ if wanted == found => true,
            "mode" => {
                let bits = |text: &str| u32::from_str_radix(text, 8).ok();
                bits(wanted).is_some() && bits(wanted) == bits(found)
            }
            "ensure" => match wanted {
                "present" | "installed" => is_there(found),
                "absent" | "purged" => !is_there(found),
                _ => false,
            },
            _ => wanted.eq_ignore_ascii_case(found),
        }
    };
    if wanted.len() > 1 && matches!(property, "groups" | "members") {
        let found: BTreeSet<&str> = found.split(',').map(str::trim).collect();
        return wanted.iter().map(String::as_str).collect::<BTreeSet<&str>>() == found;
    }
    wanted.iter().any(one)
}

impl Store {
    /// Reads the store of an agent; one that cannot be read is moved aside, which is reported.
    pub(super) fn read(
        host: &dyn Look,
        file: Option<PathBuf>,
        corrupt: &mut dyn FnMut(&Path, &str),
    ) -> Store {
        let mut store = Store { file, ..Store::default() };
        let Some(file) = &store.file else { return store };
        let Ok(Some(bytes)) = host.read_opt(file) else { return store };
        match fx_puppet::parse_yaml(&String::from_utf8_lossy(&bytes)) {
            Ok(data) => store.old = parsed(&data),
            Err(why) => corrupt(file, &why),
        }
        store
    }

    /// Names of the properties whose changes are corrective.
    pub(super) fn judge(&self, resource: &Resource, changes: &[Change]) -> BTreeSet<String> {
        let Some(known) = self.old.get(&resource.reference()) else { return BTreeSet::new() };
        let is_corrective = |change: &&Change| {
            let found = match &*resource.low {
                "exec" => "notrun".to_owned(),
                _ => text_of(&change.from),
            };
            is_idempotent(resource)
                && !is_secret(resource, &change.property)
                && known
                    .get(&*change.property)
                    .is_some_and(|wanted| !is_in_sync(&change.property, wanted, &found))
        };
        changes.iter().filter(is_corrective).map(|change| change.property.to_string()).collect()
    }

    /// Keeps what is wanted of a resource that had its turn; what was wanted before, where it
    /// was not brought about.
    pub(super) fn settle(
        &self,
        host: &dyn Look,
        resource: &Resource,
        changes: &[Change],
        status: &Status,
    ) {
        if self.file.is_none() || !is_idempotent(resource) {
            return;
        }
        let reference = resource.reference();
        let known = self.old.get(&reference);
        let old = |name: &str| known.and_then(|known| known.get(name)).cloned();
        let mut properties = wanted(resource);
        for change in changes.iter().filter(|one| !is_secret(resource, &one.property)) {
            properties
                .entry(change.property.to_string())
                .or_insert_with(|| vec![text_of(&change.to)]);
        }
        if &*resource.low == "file"
            && resource.attributes.contains_key("source")
            && !properties.contains_key("content")
            && let Some(content) = old("content").or_else(|| content_of(host, resource))
        {
            properties.insert("content".into(), content);
        }
        for event in status.events.iter().filter(|one| one.status != EventStatus::Success) {
            let name = event.property.to_string();
            match old(&name).or_else(|| (!event.is_secret).then(|| vec![event.from.clone()])) {
                Some(value) if !name.is_empty() => drop(properties.insert(name, value)),
                _ => drop(properties.remove(&name)),
            }
        }
        if !properties.is_empty() {
            self.new.borrow_mut().insert(reference, properties);
        }
    }

    /// A resource that had no turn stays as it was.
    pub(super) fn skip(&self, reference: &str) {
        if let Some(known) = self.old.get(reference) {
            self.new.borrow_mut().insert(reference.to_owned(), known.clone());
        }
    }

    /// Writes the store, without the texts of secrets.
    pub(super) fn write(
        &self,
        host: &dyn Act,
        secrets: &fx_engine::Secrets,
    ) -> Result<(), HostError> {
        let Some(file) = &self.file else { return Ok(()) };
        let options =
            fx_host::WriteOptions { mode: Some(0o660), ..fx_host::WriteOptions::default() };
        host.write(file, secrets.shown(&written(&self.new.borrow())).as_bytes(), &options)
    }
}

/// The digest of a file that is as it should be.
fn content_of(host: &dyn Look, resource: &Resource) -> Option<Vec<String>> {
    let path = text(resource, "path").unwrap_or_else(|| resource.title.to_string());
    let path = Path::new(&path);
    host.lstat(path).ok().filter(fx_host::Meta::is_file)?;
    let digest = digest::hex_of_file(Algorithm::Sha256, host, path).ok()?;
    Some(vec![format!("{{sha256}}{digest}")])
}

fn hash<'v>(value: &'v Value, name: &str) -> Option<&'v fx_puppet::Hash> {
    match value {
        Value::Hash(fields) => match fields.get(&Value::from(name)) {
            Some(Value::Hash(inner)) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

fn parsed(data: &Value) -> BTreeMap<String, Properties> {
    let mut found = BTreeMap::new();
    for (reference, entry) in hash(data, "resources").into_iter().flat_map(|all| all.iter()) {
        let mut properties = Properties::new();
        let parameters = hash(entry, "parameters").into_iter().flat_map(|all| all.iter());
        for (name, one) in parameters {
            let Value::Hash(one) = one else { continue };
            let values = match one.get(&Value::from("system_value")) {
                Some(Value::Array(values)) => values.iter().map(interpolated).collect(),
                Some(Value::Undef) | None => continue,
                Some(value) => vec![interpolated(value)],
            };
            properties.insert(interpolated(name), values);
        }
        found.insert(interpolated(reference), properties);
    }
    found
}

/// The text of the store. States are symbols of Ruby, as the original has them.
fn written(all: &BTreeMap<String, Properties>) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut out = String::from("---\nresources:");
    out.push_str(if all.is_empty() { " {}\n" } else { "\n" });
    for (reference, properties) in all {
        out.extend(["  ", &quoted(reference), ":\n    parameters:\n"]);
        for (name, values) in properties {
            out.extend(["      ", &quoted(name), ":\n        system_value:\n"]);
            for value in values {
                let bare = value.trim_start_matches(':');
                let is_word = !bare.is_empty()
                    && bare.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let shown =
                    if name == "ensure" && is_word { format!(":{bare}") } else { quoted(value) };
                out.extend(["        - ", &shown, "\n"]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let properties = |pairs: &[(&str, &[&str])]| -> Properties {
            let values = |values: &[&str]| values.iter().map(|&one| one.to_owned()).collect();
            pairs.iter().map(|(name, all)| ((*name).to_owned(), values(all))).collect()
        };
        let all: BTreeMap<String, Properties> = [
            (
                "File[/a \"b\"]".to_owned(),
                properties(&[("ensure", &[":file"]), ("mode", &["0644"])]),
            ),
            ("User[x]".to_owned(), properties(&[("groups", &["a", "b: c"])])),
        ]
        .into();
        let text = written(&all);
        let read = parsed(&fx_puppet::parse_yaml(&text).unwrap_or(Value::Undef));
        assert_eq!(written(&read), text);
        assert!(text.contains("- :file\n"), "{text}");
        assert_eq!(read["User[x]"]["groups"], ["a", "b: c"]);
        assert_eq!(written(&BTreeMap::new()), "---\nresources: {}\n");
    }

    #[test]
    fn values_are_compared_as_the_property_means_them() {
        for (property, wanted, found, same) in [
            ("mode", &["644"][..], "0644", true),
            ("mode", &["0644"], "0600", false),
            ("ensure", &[":present"], "file", true),
            ("ensure", &["present"], "absent", false),
            ("ensure", &[":file"], "file", true),
            ("ensure", &["absent"], "file", false),
            ("groups", &["a", "b"], "b,a", true),
            ("groups", &["a", "b"], "a", false),
            ("returns", &["0"], "notrun", false),
            ("enable", &["true"], "TRUE", true),
        ] {
            let wanted: Vec<String> = wanted.iter().map(|&one| one.to_owned()).collect();
            assert_eq!(is_in_sync(property, &wanted, found), same, "{property} {wanted:?} {found}");
        }
    }
}
