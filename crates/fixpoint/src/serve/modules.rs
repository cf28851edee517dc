//! The modules of a path, and where each lies.

use std::path::{Path, PathBuf};

use fx_host::{Files, OsHost};

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
}

impl Module {
    /// A folder of the module, where it has it.
    pub(crate) fn folder(&self, host: &OsHost, name: &str) -> Option<PathBuf> {
        let dir = self.dir.join(name);
        host.stat(&dir).is_ok_and(|meta| meta.is_dir()).then_some(dir)
    }
}

/// The first module of each name, in the order of the path and then by name.
pub(crate) fn all(host: &OsHost, path: &[PathBuf]) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for dir in path {
        for entry in host.list(dir).unwrap_or_default() {
            let Some(name) = entry.name.to_str() else { continue };
            let is_known = modules.iter().any(|module| module.name == name);
            if is_name(name) && !is_known && is_dir(host, &dir.join(name)) {
                modules.push(Module { name: name.to_owned(), dir: dir.join(name) });
            }
        }
    }
    modules
}

fn is_dir(host: &OsHost, path: &Path) -> bool {
    host.stat(path).is_ok_and(|meta| meta.is_dir())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
