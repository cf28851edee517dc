//! Which catalogs are those of the last time. Only what names one compilation differs then, and
//! resources and edges need not be taken apart to find that out.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use fx_crypto::digest::Algorithm;
use fx_fleet::CatalogRecord;
use serde::Deserialize;
use serde_json::Value;

use super::catalog::Circumstances;
use crate::code::CatalogMade;

/// More nodes than this are begun anew: it is memory, and no harm is done.
const MOST: usize = 1 << 16;

/// The last catalog of each node, as digests.
#[derive(Default)]
pub(crate) struct SameCatalogs(Mutex<HashMap<String, Known>>);

#[derive(Clone)]
struct Known {
    /// Of the text without the name of the compilation.
    digest: String,
    /// What the store calls its resources and edges.
    hash: String,
}

/// What a catalog says before its resources.
#[derive(Deserialize)]
struct Head<'a> {
    name: String,
    #[serde(default)]
    version: Value,
    #[serde(borrow, default)]
    catalog_uuid: Option<&'a str>,
    #[serde(default)]
    code_id: Option<String>,
}

/// A catalog with its digest.
pub(crate) struct Looked {
    name: String,
    version: String,
    catalog_uuid: Option<String>,
    code_id: Option<String>,
    digest: String,
    /// What the store calls it, where it is that of the last time.
    hash: Option<String>,
}

impl SameCatalogs {
    pub(crate) fn find(&self, made: &CatalogMade) -> Result<Looked, String> {
        let head: Head<'_> = serde_json::from_str(&made.text).map_err(|error| error.to_string())?;
        let uuid = head.catalog_uuid.filter(|uuid| !uuid.is_empty());
        let (before, after) =
            uuid.and_then(|uuid| made.text.split_once(uuid)).unwrap_or((&made.text, ""));
        let mut exported = String::new();
        for one in &made.exported {
            exported += &one.to_string();
        }
        let parts = [before, after, &exported].map(|part| Algorithm::Sha256.hex(part.as_bytes()));
        let digest = parts.join(" ");
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get(&head.name).filter(|known| known.digest == digest);
        Ok(Looked {
            hash: known.map(|known| known.hash.clone()),
            version: match head.version {
                Value::String(text) => text,
                other => other.to_string(),
            },
            catalog_uuid: head.catalog_uuid.map(str::to_owned),
            code_id: head.code_id,
            name: head.name,
            digest,
        })
    }

    /// Remembers what the store calls a catalog.
    pub(crate) fn keep(&self, looked: Looked, hash: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&looked.name) {
            all.clear();
        }
        all.insert(looked.name, Known { digest: looked.digest, hash: hash.to_owned() });
    }
}

impl Looked {
    /// The record of a catalog that is known, without what is known of it.
    pub(crate) fn known_head(
        &self,
        made: &CatalogMade,
        circumstances: &Circumstances<'_>,
    ) -> Option<CatalogRecord> {
        Some(CatalogRecord {
            node: self.name.clone(),
            environment: made.environment.clone(),
            version: self.version.clone(),
            transaction_uuid: circumstances.transaction_uuid.map(str::to_owned),
            catalog_uuid: self.catalog_uuid.clone(),
            code_id: self.code_id.clone(),
            job_id: None,
            produced: circumstances.produced,
            received: circumstances.produced,
            producer: Some(circumstances.producer.to_owned()),
            hash: self.hash.clone()?,
            resources: Vec::new(),
            edges: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(uuid: &str, title: &str) -> CatalogMade {
        let text = format!(
            r#"{{"name":"n","version":7,"code_id":null,"catalog_uuid":"{uuid}","resources":[{{"title":"{title}"}}]}}"#
        );
        CatalogMade { environment: "production".into(), text, exported: Vec::new() }
    }

    #[test]
    fn a_catalog_is_known_by_all_but_the_name_of_its_compilation() {
        let all = SameCatalogs::default();
        let circumstances = Circumstances { transaction_uuid: None, produced: 1, producer: "s" };
        let first = all.find(&made("u1", "a")).expect("a catalog");
        assert!(first.known_head(&made("u1", "a"), &circumstances).is_none());
        all.keep(first, "h");
        let again = all.find(&made("u2", "a")).expect("a catalog");
        let head = again.known_head(&made("u2", "a"), &circumstances).expect("it is known");
        assert_eq!((head.hash.as_str(), head.catalog_uuid.as_deref()), ("h", Some("u2")));
        let other = all.find(&made("u3", "b")).expect("a catalog");
        assert!(other.known_head(&made("u3", "b"), &circumstances).is_none());
    }
}
