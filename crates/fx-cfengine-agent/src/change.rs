//! Changes as data: what promises alter, with what it is and what it should be.

use std::path::Path;

use fx_cfengine::text::{encode, os, path};
use fx_crypto::digest::Algorithm;
use fx_engine::{Change, Detail, Target};
use fx_host::{Kind, Look};
use fx_value::Value;

/// Larger content is not carried along for a diff that nobody could read.
const DIFF_LIMIT: u64 = 4 << 20;

/// Content larger than this is known by its size and time: a digest would take longer than
/// the copy.
const DIGEST_LIMIT: u64 = 64 << 20;

/// What stands for something that is not there.
pub(crate) const ABSENT: &str = "absent";

/// Policy text as a value.
pub(crate) fn value(text: &str) -> Value {
    Value::from(&*encode(text))
}

/// A mode as reports show it.
pub(crate) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}

/// A change of one property of a file.
pub(crate) fn of_file(
    file: &str,
    property: &'static str,
    from: impl Into<Value>,
    to: impl Into<Value>,
) -> Change {
    Change::of(Target::file(path(file)), property, from, to)
}

/// Something that comes into being.
pub(crate) fn created(file: &str, kind: Kind) -> Change {
    of_file(file, "ensure", ABSENT, kind.word())
}

/// Something that comes into being with this mode.
pub(crate) fn created_with(file: &str, kind: Kind, mode: u32) -> [Change; 2] {
    [created(file, kind), of_file(file, "mode", ABSENT, octal(mode))]
}

/// Something that is removed.
pub(crate) fn removed(file: &str, kind: Kind) -> Change {
    of_file(file, "ensure", kind.word(), ABSENT)
}

/// Something that gets another name.
pub(crate) fn renamed(from: &str, to: &str) -> Change {
    of_file(from, "name", value(from), value(to))
}

/// A new link and where it points to.
pub(crate) fn linked(file: &str, target: &str) -> [Change; 2] {
    [created(file, Kind::Symlink), of_file(file, "target", ABSENT, value(target))]
}

/// Permission bits.
pub(crate) fn mode(file: &str, from: u32, to: u32) -> Change {
    of_file(file, "mode", octal(from), octal(to))
}

/// Time stamps, which become those of now.
pub(crate) fn touched(look: &dyn Look, file: &str) -> Change {
    let was = look.lstat(&path(file)).map(|meta| meta.mtime.secs.to_string());
    of_file(file, "times", was.unwrap_or_else(|_| ABSENT.to_owned()), "now")
}

/// One line of a file that is edited; what is not there is no line.
pub(crate) fn line(file: &str, from: Option<&str>, to: Option<&str>) -> Change {
    let shown = |line: Option<&str>| line.map_or_else(|| Value::from(ABSENT), value);
    of_file(file, "line", shown(from), shown(to))
}

/// New content of a file, with what a diff needs.
pub(crate) fn content(look: &dyn Look, file: &Path, new: &[u8]) -> Change {
    let of =
        |from: Value| Change::of(Target::file(file), "content", from, Algorithm::Sha256.label(new));
    match look.read_limited(file, DIFF_LIMIT) {
        Ok(old) => {
            let from = Algorithm::Sha256.label(&old);
            of(from.into()).detail(Detail::Content { old, new: new.to_vec() })
        }
        Err(error) if error.is_not_found() => {
            of(ABSENT.into()).detail(Detail::Content { old: Vec::new(), new: new.to_vec() })
        }
        Err(_) => of(digest(look, file)),
    }
}

/// A file that gets the content of another.
pub(crate) fn copied(look: &dyn Look, source: &str, file: &str) -> Change {
    let (from, to) = (digest(look, &path(file)), digest(look, &path(source)));
    Change::of(Target::file(path(file)), "content", from, to)
}

/// What a path holds, for a change of it.
pub(crate) fn shown(look: &dyn Look, file: &str) -> Value {
    digest(look, &path(file))
}

/// What a path holds that nothing has.
pub(crate) fn absent() -> Value {
    ABSENT.into()
}

// The digest of what a path holds; what it is where it has no content.
fn digest(look: &dyn Look, file: &Path) -> Value {
    match look.stat(file) {
        Ok(meta) if meta.is_file() && meta.size > DIGEST_LIMIT => {
            format!("{} bytes of {}", meta.size, meta.mtime.secs).into()
        }
        Ok(meta) if meta.is_file() => {
            match fx_resources::digest::label_of_file(Algorithm::Sha256, look, file) {
                Ok(label) => label.into(),
                Err(_) => "unreadable".into(),
            }
        }
        Ok(meta) => meta.kind.word().into(),
        Err(error) if error.is_not_found() => ABSENT.into(),
        Err(_) => "unreadable".into(),
    }
}

/// A command that policy names.
pub(crate) fn run(command: &str) -> Change {
    Change::of(Target::command(os(command)), "run", "not run", "run")
}

/// A package that comes, leaves or changes its version.
pub(crate) fn package(
    name: &str,
    property: &'static str,
    from: impl Into<Value>,
    to: impl Into<Value>,
) -> Change {
    Change::of(Target::package(os(name)), property, from, to)
}

/// What our own records have of a file.
pub(crate) fn record(
    file: &str,
    property: &'static str,
    from: impl Into<Value>,
    to: impl Into<Value>,
) -> Change {
    Change::of(Target::other("file record", os(file)), property, from, to)
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn content_is_a_digest_with_what_a_diff_needs() {
        let host = MemoryHost::linux();
        host.put("/old", "a\n");
        let new = content(&host, Path::new("/new"), b"b\n");
        assert_eq!(new.from, Value::from(ABSENT));
        let label = Algorithm::Sha256.label(b"b\n");
        assert_eq!(new.to, Value::from(label.as_str()));
        let changed = content(&host, Path::new("/old"), b"b\n");
        assert_eq!(changed.from, Value::from(Algorithm::Sha256.label(b"a\n")));
        let detail = Detail::Content { old: b"a\n".to_vec(), new: b"b\n".to_vec() };
        assert_eq!(changed.detail, Some(detail));
    }

    #[test]
    fn copies_are_known_by_what_is_on_both_sides() {
        let host = MemoryHost::linux();
        host.put("/source", "a\n");
        host.put_dir("/directory", 0o755);
        let table = [("/nothing", ABSENT), ("/directory", "directory")];
        for (file, from) in table {
            let change = copied(&host, "/source", file);
            assert_eq!(change.from, Value::from(from), "{file}");
            assert_eq!(change.to, Value::from(Algorithm::Sha256.label(b"a\n")), "{file}");
        }
    }
}
