//! A repository of Chef on disk: cookbooks with their files as a server keeps them, and documents
//! written in JSON or Ruby. Used to fill a server, from beside it or over its interface.

mod cookbook;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_chef::{Described, describe};
use fx_host::{Env, Files, Kind, LookingHost, OsHost};
use serde_json::Value as J;

pub(crate) use cookbook::Cookbook;

/// The most bytes of a document.
const DOCUMENT: u64 = 64 << 20;

/// A machine to look at, and what is read from it.
pub(crate) struct Reader {
    pub(crate) host: Rc<OsHost>,
}

impl Reader {
    pub(crate) fn new() -> Reader {
        Reader { host: Rc::new(OsHost::new()) }
    }

    /// Names in a directory in order, links left out; none where there is no directory.
    pub(crate) fn names(&self, dir: &Path) -> Result<Vec<(String, bool)>, String> {
        let entries = match self.host.list(dir) {
            Ok(entries) => entries,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        };
        let mut names = Vec::new();
        for entry in entries {
            let Some(name) = entry.name.to_str() else {
                let name = entry.name.to_string_lossy();
                return Err(format!("'{}': the name is not UTF-8", dir.join(&*name).display()));
            };
            match entry.kind {
                Some(Kind::Directory) => names.push((name.to_owned(), true)),
                Some(Kind::File) => names.push((name.to_owned(), false)),
                _ => {}
            }
        }
        names.sort();
        Ok(names)
    }

    pub(crate) fn is_there(&self, path: &Path) -> bool {
        self.host.stat(path).is_ok()
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.host.cwd()
    }

    pub(crate) fn bytes(&self, file: &Path) -> Result<Vec<u8>, String> {
        self.host.read_limited(file, DOCUMENT).map_err(|error| error.to_string())
    }

    pub(crate) fn json(&self, file: &Path) -> Result<J, String> {
        serde_json::from_slice(&self.bytes(file)?)
            .map_err(|error| format!("'{}': {error}", file.display()))
    }

    /// What files written in Ruby describe. They are evaluated on a machine that refuses changes.
    pub(crate) fn described(files: &[(Described, PathBuf)]) -> Vec<Result<J, String>> {
        if files.is_empty() {
            return Vec::new();
        }
        let files: Vec<(Described, PathBuf)> = files.to_vec();
        let count = files.len();
        let evaluated = crate::deep::ruby(move || {
            let host = Rc::new(LookingHost::new(Rc::new(OsHost::new())));
            let files: Vec<(Described, &Path)> =
                files.iter().map(|(kind, path)| (*kind, path.as_path())).collect();
            describe(host, &files)
        });
        evaluated
            .unwrap_or_else(|| vec![Err("the evaluation of Ruby ended badly".to_owned()); count])
    }

    /// The documents of a kind in a directory, by the names of their files: JSON, or Ruby where a
    /// kind is given for it.
    pub(crate) fn documents(
        &self,
        dir: &Path,
        ruby: Option<Described>,
    ) -> Result<Vec<(String, J)>, String> {
        let mut found = Vec::new();
        let mut of_ruby = Vec::new();
        for (name, is_dir) in self.names(dir)? {
            if is_dir || name.starts_with('.') {
                continue;
            }
            let path = dir.join(&name);
            match (name.rsplit_once('.'), ruby) {
                (Some((base, "json")), _) => found.push((base.to_owned(), self.json(&path)?)),
                (Some((base, "rb")), Some(kind)) => of_ruby.push((base.to_owned(), (kind, path))),
                (Some((_, "md" | "rb" | "txt")), _) => {}
                // A store of single files leaves the ending out.
                _ => found.push((name.clone(), self.json(&path)?)),
            }
        }
        let files: Vec<(Described, PathBuf)> =
            of_ruby.iter().map(|(_, file)| file.clone()).collect();
        for ((name, _), document) in of_ruby.into_iter().zip(Reader::described(&files)) {
            found.push((name, document?));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}
