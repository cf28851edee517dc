//! Trees of code: copied without the history of the code, and named by what is in them.

use std::fmt::Write;
use std::path::{Component, Path};

use fx_crypto::digest::Algorithm;
use fx_host::{Edits, Files, Kind, OsHost, WriteOptions};

use super::shown;

const DEPTH: usize = 64;

/// Copies files, directories and links that stay inside.
pub(super) fn tree(host: &OsHost, from: &Path, to: &Path) -> Result<(), String> {
    if host.lstat_opt(to).map_err(shown)?.is_none() {
        host.make_dir(to, 0o755).map_err(shown)?;
    }
    below(host, from, to, 0)
}

fn below(host: &OsHost, from: &Path, to: &Path, depth: usize) -> Result<(), String> {
    if depth > DEPTH {
        return Err(format!("'{}' is too deep", from.display()));
    }
    for entry in host.list(from).map_err(shown)? {
        // The history of the code is not the code.
        if entry.name == ".git" {
            continue;
        }
        let (source, target) = (from.join(&entry.name), to.join(&entry.name));
        let meta = host.lstat(&source).map_err(shown)?;
        match meta.kind {
            Kind::Directory => {
                host.make_dir(&target, 0o755).map_err(shown)?;
                below(host, &source, &target, depth + 1)?;
            }
            Kind::File => {
                let mode = if meta.mode & 0o111 == 0 { 0o644 } else { 0o755 };
                let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
                host.copy_file(&source, &target, &options).map_err(shown)?;
            }
            Kind::Symlink => {
                let leads = host.read_link(&source).map_err(shown)?;
                if !stays_inside(&leads, depth) {
                    return Err(format!(
                        "'{}' leads out of the code, to '{}'",
                        source.display(),
                        leads.display()
                    ));
                }
                host.symlink(&leads, &target).map_err(shown)?;
            }
            _ => return Err(format!("'{}' is neither file nor directory", source.display())),
        }
    }
    Ok(())
}

/// Whether a link at a depth leads to something of the tree.
fn stays_inside(leads: &Path, depth: usize) -> bool {
    let mut level = depth;
    for part in leads.components() {
        match part {
            Component::Normal(_) => level += 1,
            Component::CurDir => {}
            Component::ParentDir if level > 0 => level -= 1,
            _ => return false,
        }
    }
    true
}

/// The name of a tree: the same content has the same one.
pub(super) fn digest(host: &OsHost, dir: &Path) -> Result<String, String> {
    let mut list = String::new();
    listed(host, dir, Path::new(""), &mut list)?;
    let mut digest = Algorithm::Sha256.hex(list.as_bytes());
    digest.truncate(16);
    Ok(digest)
}

fn listed(host: &OsHost, dir: &Path, below: &Path, into: &mut String) -> Result<(), String> {
    for entry in host.list(&dir.join(below)).map_err(shown)? {
        let name = below.join(&entry.name);
        let path = dir.join(&name);
        let meta = host.lstat(&path).map_err(shown)?;
        let content = match meta.kind {
            Kind::Directory => "directory".to_owned(),
            Kind::Symlink => format!("link {}", host.read_link(&path).map_err(shown)?.display()),
            _ => {
                let mut content = host.open(&path).map_err(shown)?;
                let sum = Algorithm::Sha256.hex_of(&mut content);
                let sum = sum.map_err(|error| format!("'{}': {error}", path.display()))?;
                format!("{} {sum}", meta.mode & 0o111 != 0)
            }
        };
        // Quoted: a name may have anything in it.
        let _ = writeln!(into, "{:?} {content}", name.display().to_string());
        if meta.is_dir() {
            listed(host, dir, &name, into)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_must_stay_inside() {
        for (leads, depth, wanted) in [
            ("x", 0, true),
            ("../x", 0, false),
            ("../x", 1, true),
            ("a/../../x", 0, false),
            ("/etc/passwd", 5, false),
            ("./a/../b", 0, true),
        ] {
            assert_eq!(stays_inside(Path::new(leads), depth), wanted, "{leads} at {depth}");
        }
    }
}
