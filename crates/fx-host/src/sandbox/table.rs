//! The machine's mounts as the kernel lists them, and which of them are to be seen.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    id: u32,
    parent: u32,
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// The type of the file system.
    pub(super) kind: String,
    /// Options of the mount, such as `ro`.
    options: Vec<String>,
    /// Options of the file system.
    pub(super) details: String,
}

impl Mount {
    /// Whether it has an option.
    pub(super) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|other| other == option)
    }
}

/// All mounts of a table.
pub(super) fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let number = |word: &[u8]| text(word).parse().ok();
    // Optional fields end with a lone hyphen.
    let end = words.iter().skip(6).position(|word| *word == b"-")? + 6;
    Some(Mount {
        id: number(words[0])?,
        parent: number(words[1])?,
        point: PathBuf::from(OsString::from_vec(unescape(words[4]))),
        options: text(words[5]).split(',').map(str::to_owned).collect(),
        kind: text(words.get(end + 1)?),
        details: text(words.get(end + 3).copied().unwrap_or_default()),
    })
}

/// The kernel writes blanks, line ends and backslashes in octal.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|digits| {
            *first == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
        });
        match octal {
            Some(digits) => {
                out.push(
                    digits.iter().fold(0_u8, |value, digit| {
                        value.wrapping_mul(8).wrapping_add(digit - b'0')
                    }),
                );
                rest = &after[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

/// The mounts that a path leads to, parents before children: not those that another one is
/// mounted over, at the same place or above it.
pub(super) fn visible(mounts: &[Mount]) -> Vec<&Mount> {
    let covered = |mount: &Mount| {
        mounts.iter().any(|other| {
            other.id != mount.id && other.parent == mount.id && other.point == mount.point
        })
    };
    let hidden = |mount: &Mount| {
        mounts.iter().any(|other| {
            other.id != mount.id
                && other.parent == mount.parent
                && other.point != mount.point
                && mount.point.starts_with(&other.point)
        })
    };
    let reachable = |mount: &Mount| {
        let mut at = mount;
        // As many steps as there are mounts: a table that leads in a circle ends too.
        for _ in 0..=mounts.len() {
            if hidden(at) {
                return false;
            }
            match mounts.iter().find(|other| other.id == at.parent && other.id != at.id) {
                Some(parent) => at = parent,
                None => return true,
            }
        }
        false
    };
    let mut seen: Vec<&Mount> =
        mounts.iter().filter(|mount| !covered(mount) && reachable(mount)).collect();
    seen.sort_by(|a, b| a.point.cmp(&b.point));
    seen
}

/// Whether a path lies in one of the trees.
pub(super) fn lies_in(path: &Path, trees: &[&Path]) -> bool {
    trees.iter().any(|tree| path.starts_with(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(info: &str) -> Vec<String> {
        visible(&parse(info.as_bytes()))
            .into_iter()
            .map(|mount| format!("{} {}", mount.point.display(), mount.kind))
            .collect()
    }

    #[test]
    fn names_are_read_with_their_odd_characters() {
        let info =
            "27 1 254:0 / /a\\040b\\134c\\012d,e:f rw,noexec shared:1 master:2 - ext4 /dev/x rw\n";
        let mounts = parse(info.as_bytes());
        assert_eq!(mounts[0].point, Path::new("/a b\\c\nd,e:f"));
        assert!(mounts[0].has("noexec") && !mounts[0].has("ro"));
        assert_eq!(parse(b"x y\n\n1 2 3:4 / /half rw\n"), []);
    }

    #[test]
    fn what_is_mounted_over_is_not_seen() {
        assert_eq!(
            points(
                "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /mnt/x rw - ext4 b rw\n3 1 0:3 / /mnt rw - tmpfs c rw\n4 3 0:4 / /mnt rw - xfs d rw\n5 4 0:5 / /mnt/y rw - ext4 e rw\n6 2 0:6 / /mnt/x/z rw - ext4 f rw\n"
            ),
            ["/ ext4", "/mnt xfs", "/mnt/y ext4"]
        );
    }

    #[test]
    fn a_table_in_a_circle_ends() {
        assert_eq!(points("1 2 0:1 / /a rw - ext4 a rw\n2 1 0:2 / /b rw - ext4 b rw\n").len(), 0);
    }
}
