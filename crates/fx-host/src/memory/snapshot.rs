//! The whole tree of the fake machine as text, the same for equal machines.
//!
//! One line a name: path, kind, mode, owner and group, then content or target. Inode
//! numbers and the change time stay out, since they differ without meaning anything.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::MemoryHost;
use super::tree::{Body, Ino, ROOT, Tree};
use crate::Kind;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Shown,
    Hidden,
}

impl MemoryHost {
    /// The whole tree as text without times.
    pub fn snapshot(&self) -> String {
        render(&self.state.borrow().tree, Times::Hidden)
    }

    /// The whole tree as text with modification times, to show that nothing was touched.
    pub fn snapshot_with_times(&self) -> String {
        render(&self.state.borrow().tree, Times::Shown)
    }
}

fn render(tree: &Tree, times: Times) -> String {
    let mut out = String::new();
    let mut first_names: BTreeMap<Ino, String> = BTreeMap::new();
    // Deepest last, in byte order, without recursion: a test may build a deep tree.
    let mut todo = vec![(ROOT, "/".to_owned())];
    while let Some((ino, path)) = todo.pop() {
        let inode = tree.get(ino);
        let kind = match inode.kind() {
            Kind::File => "file",
            Kind::Directory => "dir",
            Kind::Symlink => "link",
            Kind::Fifo => "fifo",
            Kind::Socket => "socket",
            Kind::CharDevice => "char",
            Kind::BlockDevice => "block",
        };
        let _ = write!(out, "{path} {kind} {:04o} {}:{}", inode.mode, inode.uid, inode.gid);
        if times == Times::Shown {
            let _ = write!(out, " @{}.{:09}", inode.mtime.secs, inode.mtime.nanos);
        }
        for (name, value) in &inode.xattrs {
            let _ = write!(out, " {}={:?}", name.display(), String::from_utf8_lossy(value));
        }
        match &inode.body {
            Body::File(content) => {
                if let Some(first) = first_names.get(&ino) {
                    let _ = write!(out, " = {first}");
                } else {
                    let _ = write!(out, " {}", content.escape_ascii());
                    if inode.links > 1 {
                        first_names.insert(ino, path.clone());
                    }
                }
            }
            Body::Symlink(target) => {
                let _ = write!(out, " -> {}", target.display());
            }
            Body::Dir(names) => {
                let base = Path::new(&path);
                let children = names.iter().rev();
                todo.extend(
                    children.map(|(name, child)| {
                        (*child, base.join(name).to_string_lossy().into_owned())
                    }),
                );
            }
            Body::Special(_) => {}
        }
        out.push('\n');
    }
    out
}
