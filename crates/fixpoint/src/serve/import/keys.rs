//! All keys of clients and users, of which documents hold only the default one: the table of keys
//! that a backup with `--with-key-sql` has.

use std::path::Path;

use fx_wire::puppet::percent_encoded;
use serde_json::{Value as J, json};

use super::Import;

/// The end of keys that have none.
const FOREVER: &str = "infinity";

impl Import<'_> {
    pub(super) fn keys(&mut self, source: &Path) -> Result<(), String> {
        let dump = source.join("key_table_dump.json");
        if !self.exists(&dump) {
            return Ok(());
        }
        let dump = self.reader.json(&dump)?;
        for row in dump.as_array().into_iter().flatten() {
            let text = |field: &str| row[field].as_str().unwrap_or_default();
            let (owner, name) = (text("name"), text("key_name"));
            // The superuser has the key that lies beside this store.
            if text("type") == "user" && owner == "pivotal" {
                continue;
            }
            let label = format!("{owner}/{name}");
            let encoded = percent_encoded(owner);
            let keys = match text("type") {
                "user" => format!("/users/{encoded}/keys"),
                "client" => {
                    let org = percent_encoded(text("org_name"));
                    format!("/organizations/{org}/clients/{encoded}/keys")
                }
                other => {
                    self.done.refused.push(format!("key '{label}': '{other}' has no keys"));
                    continue;
                }
            };
            let Some(date) = date(&row["expires_at"]) else {
                let given = &row["expires_at"];
                self.done.refused.push(format!("key '{label}': {given} is no time"));
                continue;
            };
            let mut key = json!({"public_key": row["public_key"], "expiration_date": date});
            let path = format!("{keys}/{}", percent_encoded(name));
            let mut made = self.ask("PUT", &path, &key, "1");
            if made.as_ref().is_err_and(|why| why.status == 404) {
                key["name"] = name.into();
                made = self.ask("POST", &keys, &key, "1");
            }
            self.note("key", &label, made);
        }
        Ok(())
    }
}

/// When a key ends to count, as the interface has it. A table of PostgreSQL is written by Ruby:
/// `2030-01-02 03:04:05 UTC`, perhaps with parts of a second and another zone.
fn date(given: &J) -> Option<String> {
    let text = match given {
        J::Null => return Some(FOREVER.to_owned()),
        other => other.as_str()?,
    };
    if text.eq_ignore_ascii_case(FOREVER) {
        return Some(FOREVER.to_owned());
    }
    let text = text.replacen(" UTC", "Z", 1).replacen(" +", "+", 1).replacen(" -", "-", 1);
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_key_is_read_as_databases_and_ruby_write_it() {
        for (given, expected) in [
            (J::Null, Some(FOREVER)),
            (json!("infinity"), Some(FOREVER)),
            (json!("Infinity"), Some(FOREVER)),
            (json!("2030-01-02 03:04:05 UTC"), Some("2030-01-02T03:04:05Z")),
            (json!("2030-01-02 03:04:05 +0100"), Some("2030-01-02T02:04:05Z")),
            (json!("2030-01-02 03:04:05.25 -0230"), Some("2030-01-02T05:34:05Z")),
            (json!("2030-01-02T03:04:05Z"), Some("2030-01-02T03:04:05Z")),
            (json!("soon"), None),
            (json!(7), None),
        ] {
            assert_eq!(date(&given).as_deref(), expected, "{given}");
        }
    }
}
