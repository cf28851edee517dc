//! Whether the files of an environment are those that were read: a number over their names,
//! sizes and times.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use fx_host::{Files, Kind, OsHost};

use super::environments::Snapshot;

/// Deeper than any code; what lies below is not looked at.
const DEPTH: usize = 40;

/// What a look at all files found.
pub(crate) struct Look {
    pub(crate) key: u64,
    /// When one of them changed last, in seconds since 1970.
    pub(crate) newest: i64,
}

pub(crate) fn of(host: &OsHost, snapshot: &Snapshot) -> Look {
    let mut walk = Walk { host, hasher: DefaultHasher::new(), newest: i64::MIN };
    let mut trees: Vec<PathBuf> = snapshot.dir.iter().cloned().collect();
    trees.push(snapshot.manifest.clone());
    trees.extend(snapshot.modulepath.iter().cloned());
    trees.extend(snapshot.hiera_config.iter().cloned());
    for config in snapshot
        .hiera_config
        .iter()
        .cloned()
        .chain(snapshot.dir.iter().map(|dir| dir.join("hiera.yaml")))
    {
        trees.extend(data_dirs(host, &config));
    }
    // What lies in another tree is looked at with it.
    let mut seen: Vec<PathBuf> = Vec::new();
    for tree in trees {
        if !seen.iter().any(|known| tree.starts_with(known)) {
            walk.add(&tree, 0);
            seen.push(tree);
        }
    }
    Look { key: walk.hasher.finish(), newest: walk.newest }
}

struct Walk<'a> {
    host: &'a OsHost,
    hasher: DefaultHasher,
    newest: i64,
}

impl Walk<'_> {
    fn add(&mut self, path: &Path, depth: usize) {
        path.hash(&mut self.hasher);
        let Ok(meta) = self.host.stat(path) else { return };
        (meta.size, meta.ino, meta.mode).hash(&mut self.hasher);
        let times = (meta.mtime.secs, meta.mtime.nanos, meta.ctime.secs, meta.ctime.nanos);
        times.hash(&mut self.hasher);
        self.newest = self.newest.max(meta.ctime.secs);
        if !meta.is_dir() || depth >= DEPTH {
            return;
        }
        for entry in self.host.list(path).unwrap_or_default() {
            // The history of the code and its tests are not the code.
            let is_beside = entry.name == ".git" || entry.name == "spec";
            if is_beside && entry.kind != Some(Kind::File) {
                continue;
            }
            self.add(&path.join(&entry.name), depth + 1);
        }
    }
}

/// Directories of data that a hierarchy names. They may lie anywhere.
fn data_dirs(host: &OsHost, config: &Path) -> Vec<PathBuf> {
    let text = host.read(config).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let base = config.parent().unwrap_or(Path::new("/"));
    let mut dirs = vec![base.join("data")];
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        if let Some(dir) = line.strip_prefix("datadir:") {
            // What is put in for a node is below the part before it.
            let dir = dir.trim().trim_matches(['"', '\'']);
            let fixed = dir.split(['%', '$']).next().unwrap_or_default();
            let fixed = fixed.rsplit_once('/').map_or(fixed, |(dir, _)| dir);
            let whole = if fixed.len() < dir.len() && dir.contains('%') { fixed } else { dir };
            if !whole.is_empty() {
                dirs.push(base.join(whole));
            }
        }
    }
    dirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_data_are_found_in_a_hierarchy() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("hiera.yaml");
        let text = "version: 5\ndefaults:\n  datadir: /srv/data\nhierarchy:\n- name: x\n  datadir: 'own/%{env}/x'\n";
        fx_host::Edits::write(
            &OsHost::new(),
            &config,
            text.as_bytes(),
            &fx_host::WriteOptions::default(),
        )
        .unwrap();
        let found = data_dirs(&OsHost::new(), &config);
        assert_eq!(
            found,
            [dir.path().join("data"), PathBuf::from("/srv/data"), dir.path().join("own")]
        );
    }
}
