//! Files of the server, as resources of the catalog and plug-ins ask for them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use fx_puppet::{Fetched, FileServer, Served, ServedKind, ServerBucket, TreeWish};
use fx_remote::Answer;
use fx_remote::puppet::{InBucket, ListQuery, Server, Unanswered, complaint};
use fx_wire::puppet::{FileKind, Metadata};
use serde_json::Value as Json;

use super::spool::Spool;

/// The file service of a server for one environment.
#[derive(Debug)]
pub(super) struct ServerFiles {
    pub(super) server: Server,
    pub(super) environment: String,
    /// What the catalog itself says of files, and what lists said: those need not be asked for.
    known: RefCell<HashMap<String, Served>>,
    /// Where content comes from that the catalog was compiled with.
    content: RefCell<HashMap<String, String>>,
    code: Option<String>,
    /// Directories that the catalog lists.
    trees: HashMap<String, Vec<Served>>,
    spool: Spool,
}

/// The path on the server of `puppet:///modules/m/f` or `puppet://host/modules/m/f`.
fn path_of(source: &str) -> &str {
    let rest = source.strip_prefix("puppet://").unwrap_or(source);
    rest.split_once('/').map_or("", |(_, path)| path)
}

fn served(metadata: Metadata) -> Served {
    let path = metadata.relative_path.filter(|path| path != ".").unwrap_or_default();
    Served {
        path,
        kind: match metadata.kind {
            FileKind::File => ServedKind::File,
            FileKind::Directory => ServedKind::Directory,
            FileKind::Link(to) => ServedKind::Link(to),
        },
        label: format!("{{{}}}{}", metadata.checksum.kind, metadata.checksum.value),
        mode: metadata.mode,
        owner: metadata.owner,
        group: metadata.group,
    }
}

fn unread(answer: &Answer) -> String {
    format!("{} is no list of files", answer.header("content-type").unwrap_or("the answer"))
}

/// What an answer says of files; nothing where there are none.
pub(super) fn listed(sent: Result<Answer, Unanswered>) -> Result<Option<Vec<Served>>, String> {
    let answer = sent.map_err(|error| error.to_string())?;
    if answer.status == 404 {
        return Ok(None);
    }
    if !answer.is_success() {
        return Err(complaint(&answer));
    }
    let data: Json = serde_json::from_slice(&answer.body).map_err(|_| unread(&answer))?;
    let rows = match data {
        Json::Array(rows) => rows,
        one => vec![one],
    };
    let rows = rows.iter().map(|row| Metadata::from_json(row).map(served));
    rows.collect::<Option<Vec<Served>>>().ok_or_else(|| unread(&answer)).map(Some)
}

impl ServerFiles {
    /// Files for a catalog, which may say itself what some of them are.
    pub(super) fn new(
        server: Server,
        environment: &str,
        catalog: &Json,
        spool: Spool,
    ) -> ServerFiles {
        let code = catalog.get("code_id").and_then(Json::as_str).map(str::to_owned);
        let (mut known, mut content) = (HashMap::new(), HashMap::new());
        let mut trees: HashMap<String, Vec<Served>> = HashMap::new();
        let mut note = |source: &str, row: &Json| {
            let found = Metadata::from_json(row).map(served)?;
            let uri = match found.path.as_str() {
                "" => source.to_owned(),
                rest => format!("{source}/{rest}"),
            };
            if let Some(from) = row.get("content_uri").and_then(Json::as_str) {
                content.insert(uri.clone(), from.to_owned());
            }
            known.insert(uri, Served { path: String::new(), ..found.clone() });
            Some(found)
        };
        for row in catalog.get("metadata").and_then(Json::as_object).into_iter().flatten() {
            if let Some(source) = row.1.get("source").and_then(Json::as_str) {
                note(source, row.1);
            }
        }
        let all = catalog.get("recursive_metadata").and_then(Json::as_object);
        for sources in all.into_iter().flatten().filter_map(|(_, one)| one.as_object()) {
            for (source, rows) in sources {
                let rows = rows.as_array().into_iter().flatten();
                let found = rows.filter_map(|row| note(source, row)).collect();
                trees.insert(source.clone(), found);
            }
        }
        ServerFiles {
            server,
            environment: environment.to_owned(),
            known: RefCell::new(known),
            content: RefCell::new(content),
            code,
            trees,
            spool,
        }
    }
}

impl FileServer for ServerFiles {
    fn metadata(&self, source: &str) -> Result<Option<Served>, String> {
        if let Some(known) = self.known.borrow().get(source) {
            return Ok(Some(known.clone()));
        }
        let sent = self.server.metadata(path_of(source), "manage", &self.environment);
        Ok(listed(sent)?.and_then(|mut rows| rows.pop()))
    }

    fn tree(&self, source: &str, wish: &TreeWish) -> Result<Option<Vec<Served>>, String> {
        if let Some(rows) = self.trees.get(source) {
            return Ok(Some(rows.clone()));
        }
        let ignored: Vec<&str> = wish.ignored.iter().map(String::as_str).collect();
        let query = ListQuery {
            recurse: true,
            levels: wish.levels,
            ignore: &ignored,
            max_files: Some(0),
            links: if wish.follows { "follow" } else { "manage" },
            source_permissions: "ignore",
        };
        let sent = self.server.metadatas(path_of(source), &query, &self.environment);
        let Some(rows) = listed(sent)? else { return Ok(None) };
        let is_tree = rows.first().is_some_and(|top| top.kind == ServedKind::Directory);
        let mut known = self.known.borrow_mut();
        for row in &rows {
            let uri = format!("{}/{}", source.trim_end_matches('/'), row.path);
            known.insert(uri, Served { path: String::new(), ..row.clone() });
        }
        Ok(is_tree.then_some(rows))
    }

    fn content(&self, source: &str) -> Result<Fetched, String> {
        let fixed = self.content.borrow().get(source).cloned();
        let sent = match (fixed, &self.code) {
            (Some(uri), Some(code)) => {
                self.server.static_content(path_of(&uri), &self.environment, code)
            }
            _ => self.server.content(path_of(source), &self.environment),
        };
        let opened = sent.map_err(|error| error.to_string())?;
        if !opened.is_success() {
            let answer = opened.into_answer().map_err(|error| error.to_string())?;
            return Err(complaint(&answer));
        }
        self.spool.fetch(opened.body)
    }
}

impl ServerBucket for ServerFiles {
    fn keep(
        &self,
        digest: &str,
        sum: &str,
        path: &Path,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), String> {
        let path = path.to_string_lossy();
        let at = InBucket { digest, sum, path: &path };
        let has = self.server.bucket_has(&at, &self.environment);
        let has = has.map_err(|error| super::unanswered_text(&error))?;
        if has.is_success() {
            return Ok(());
        }
        if has.status != 404 {
            return Err(complaint(&has));
        }
        let kept = self.server.bucket_keep(&at, size, content, &self.environment);
        let kept = kept.map_err(|error| super::unanswered_text(&error))?;
        if kept.is_success() { Ok(()) } else { Err(complaint(&kept)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_a_path_on_the_server() {
        assert_eq!(path_of("puppet:///modules/m/f"), "modules/m/f");
        assert_eq!(path_of("puppet://other:8140/modules/m/f"), "modules/m/f");
        assert_eq!(path_of("puppet:///"), "");
    }
}
