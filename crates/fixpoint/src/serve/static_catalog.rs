//! Catalogs that say themselves what the files are that they name: agents fetch content alone, of
//! the version that the catalog was compiled from.

use std::path::Path;

use fx_host::OsHost;
use fx_server::{CatalogWish, FileWish, Refusal, Tree};
use fx_wire::puppet::{FileKind, Metadata};
use serde_json::{Map, Value};

use super::files::{self, Served};

/// Digests that agents and we know.
const KNOWN: &[&str] = &["sha256", "sha384", "sha512", "sha224", "md5", "md5lite", "sha256lite"];

/// The catalog with its version, and what its files are where they are files of modules.
pub(super) fn with_files(
    host: &OsHost,
    served: &Served<'_>,
    wish: &CatalogWish,
    text: &str,
    code_id: &str,
) -> Result<String, Refusal> {
    let failed = |error: serde_json::Error| Refusal::Failed(error.to_string());
    let mut catalog: Value = serde_json::from_str(text).map_err(failed)?;
    catalog["code_id"] = code_id.into();
    let digest = wish.checksum_types.iter().find(|kind| KNOWN.contains(&kind.as_str()));
    let digest = digest.map_or("sha256", String::as_str);
    let (mut single, mut trees) = (Map::new(), Map::new());
    for resource in catalog["resources"].as_array().into_iter().flatten() {
        let Some(asked) = Asked::of(resource, digest) else { continue };
        let title = resource["title"].as_str().unwrap_or_default().to_owned();
        if asked.tree.recurses {
            let mut found = Map::new();
            for source in &asked.sources {
                if let Some(rows) = asked.rows(host, served, source) {
                    found.insert((*source).to_owned(), rows);
                    break;
                }
            }
            if !found.is_empty() {
                trees.insert(title, found.into());
            }
        } else if let Some(row) = asked.sources.iter().find_map(|one| asked.row(host, served, one))
        {
            single.insert(title, row);
        }
    }
    if !single.is_empty() {
        catalog["metadata"] = single.into();
    }
    if !trees.is_empty() {
        catalog["recursive_metadata"] = trees.into();
    }
    Ok(catalog.to_string())
}

/// A file resource whose sources are all on the server.
struct Asked<'a> {
    sources: Vec<&'a str>,
    wish: FileWish,
    tree: Tree,
}

impl<'a> Asked<'a> {
    fn of(resource: &'a Value, digest: &str) -> Option<Asked<'a>> {
        if resource["type"] != "File" {
            return None;
        }
        let given = &resource["parameters"];
        let sources: Vec<&str> = match &given["source"] {
            Value::String(one) => vec![one],
            Value::Array(all) => all.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        if given["ensure"] == "absent" || !sources.iter().all(|one| one.starts_with("puppet:")) {
            return None;
        }
        let permissions = given["source_permissions"].as_str();
        let wish = FileWish {
            mount: "modules".into(),
            client: String::new(),
            path: Vec::new(),
            checksum: given["checksum"].as_str().unwrap_or(digest).to_owned(),
            follows_links: given["links"] == "follow",
            with_permissions: matches!(permissions, Some("use" | "use_when_creating")),
        };
        let recurses = matches!(&given["recurse"], Value::Bool(true))
            || matches!(given["recurse"].as_str(), Some("true" | "remote" | "inf"));
        let ignore = match &given["ignore"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::String(one) => vec![one.clone()],
            _ => Vec::new(),
        };
        let depth = given["recurselimit"].as_u64().and_then(|depth| usize::try_from(depth).ok());
        Some(Asked { sources, wish, tree: Tree { recurses, depth, ignore } })
    }

    /// The wish for a source, where it is a file of a module.
    fn wish(&self, source: &str) -> Option<FileWish> {
        let path = source.strip_prefix("puppet://")?.split_once('/')?.1;
        let path = path.strip_prefix("modules/")?;
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        let is_sound = path.iter().all(|part| !matches!(part.as_str(), "" | "." | ".."));
        is_sound.then(|| FileWish { path, ..self.wish.clone() })
    }

    fn row(&self, host: &OsHost, served: &Served<'_>, source: &str) -> Option<Value> {
        let found = files::metadata(host, served, &self.wish(source)?).ok()?;
        let mut row = found.to_json();
        row["content_uri"] = uri(served, &found, source)?.into();
        row["source"] = source.into();
        Some(row)
    }

    fn rows(&self, host: &OsHost, served: &Served<'_>, source: &str) -> Option<Value> {
        let found = files::metadatas(host, served, &self.wish(source)?, &self.tree).ok()?;
        let mut rows = Vec::new();
        for one in found {
            let mut row = one.to_json();
            // A file outside of the environment has no version: the tree is asked for as ever.
            let uri = uri(served, &one, source)?;
            if one.kind == FileKind::File {
                row["content_uri"] = uri.into();
            }
            row["source"] = source.into();
            rows.push(row);
        }
        Some(rows.into())
    }
}

/// Where the content is: the path below the environment, which must be that of a module's file.
fn uri(served: &Served<'_>, found: &Metadata, source: &str) -> Option<String> {
    let whole = match found.relative_path.as_deref() {
        None | Some(".") => Path::new(&found.path).to_path_buf(),
        Some(below) => Path::new(&found.path).join(below),
    };
    let dir = served.snapshot.dir.as_ref()?;
    let below = whole.strip_prefix(dir).ok()?.to_str()?;
    let parts: Vec<&str> = below.split('/').collect();
    let is_served = matches!(parts.as_slice(), [_, _, "files", ..]);
    let place = source.strip_prefix("puppet://")?.split_once('/')?.0;
    is_served.then(|| format!("puppet://{place}/{below}"))
}
