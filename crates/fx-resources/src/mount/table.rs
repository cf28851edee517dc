//! Lines of `/etc/fstab` and of the kernel's table of mounts, and edits of the former.
//!
//! Both are bytes, as paths are. Comments, odd lines and lines about other directories stay
//! byte for byte whatever is edited.

use std::path::Path;

use fx_engine::Failure;
use fx_host::{Act, HostError, Look, WriteOptions};

use crate::text;

/// What is mounted now.
pub const MOUNTED: &str = "/proc/self/mounts";
/// What should be mounted at boot.
pub const FSTAB: &str = "/etc/fstab";

/// A line taken apart, without escapes. Fields that a line does not have are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What is mounted.
    pub device: Vec<u8>,
    /// The directory.
    pub point: Vec<u8>,
    /// The kind of file system.
    pub fstype: Option<Vec<u8>>,
    /// How it is mounted.
    pub options: Option<Vec<u8>>,
    /// Whether it is dumped.
    pub dump: Option<Vec<u8>>,
    /// When it is checked.
    pub pass: Option<Vec<u8>>,
}

impl Row {
    /// Reads a line of fstab; `None` for comments and for what names no directory.
    pub fn parse(line: &[u8]) -> Option<Row> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let device = words.next().filter(|word| !word.starts_with(b"#"))?;
        Row::of(device, words)
    }

    // The kernel has one blank between fields, so a device without a name is an empty field.
    fn parse_mounted(line: &[u8]) -> Option<Row> {
        let mut words = line.split(|byte| *byte == b' ');
        let device = words.next()?;
        Row::of(device, words)
    }

    fn of<'a>(device: &[u8], mut words: impl Iterator<Item = &'a [u8]>) -> Option<Row> {
        let mut next = || words.next().map(unescape);
        Some(Row {
            device: unescape(device),
            point: next()?,
            fstype: next(),
            options: next(),
            dump: next(),
            pass: next(),
        })
    }

    /// Whether it is about a directory, with or without slashes at its end.
    pub fn is_at(&self, point: &[u8]) -> bool {
        let plain = |path: &[u8]| {
            let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
            path[..end].to_vec()
        };
        plain(&self.point) == plain(point)
    }

    /// The line for fstab. Missing fields are left out, before a given one they have the
    /// meaning that fstab(5) names.
    pub fn line(&self, separator: &str) -> Vec<u8> {
        let optional = [
            (&self.fstype, "auto"),
            (&self.options, "defaults"),
            (&self.dump, "0"),
            (&self.pass, "0"),
        ];
        let given = optional.iter().rposition(|(field, _)| field.is_some());
        let mut fields = vec![escape(&self.device), escape(&self.point)];
        for (field, default) in &optional[..given.map_or(0, |last| last + 1)] {
            fields.push(escape(field.as_deref().unwrap_or(default.as_bytes())));
        }
        fields.join(separator.as_bytes())
    }
}

/// What is mounted now, in the order in which it was mounted: the last one on a directory
/// hides the others.
pub fn mounted(look: &dyn Look) -> Result<Vec<Row>, Failure> {
    let table = look.read_opt(Path::new(MOUNTED))?.unwrap_or_default();
    Ok(text::lines(&table).filter_map(Row::parse_mounted).collect())
}

/// The first line about a directory in a table of fstab, and what it says.
pub fn line_at<'a>(table: &'a [u8], point: &[u8]) -> Option<(&'a [u8], Row)> {
    let rows = text::lines(table).filter_map(|line| Some((line, Row::parse(line)?)));
    rows.into_iter().find(|(_, row)| row.is_at(point))
}

/// Whether something is mounted on a directory.
pub fn is_mounted(look: &dyn Look, point: &[u8]) -> Result<bool, Failure> {
    Ok(mounted(look)?.iter().any(|row| row.is_at(point)))
}

/// Writes a table; a new one may be read by everybody.
pub fn write(act: &dyn Act, path: &Path, table: &[u8]) -> Result<(), HostError> {
    let mode = act.lstat_opt(path)?.is_none().then_some(0o644);
    act.write(path, table, &WriteOptions { mode, ..WriteOptions::default() })
}

/// Puts a line in the place of those that are meant, or at the end.
pub fn with_line(table: &[u8], line: &[u8], meant: &dyn Fn(&Row) -> bool) -> Vec<u8> {
    let is_meant = |line: &[u8]| Row::parse(line).is_some_and(|row| meant(&row));
    text::ensure_line(table, line, &is_meant)
}

/// Removes the lines that are meant.
pub fn without(table: &[u8], meant: &dyn Fn(&Row) -> bool) -> Vec<u8> {
    text::delete(table, &|line| Row::parse(line).is_some_and(|row| meant(&row)))
}

// What separates fields or lines, or starts a comment, is an octal number in both tables.
fn escape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    for (at, byte) in field.iter().enumerate() {
        if byte.is_ascii_whitespace() || *byte == b'\\' || *byte == b'#' && at == 0 {
            out.extend(format!("\\{byte:03o}").bytes());
        } else {
            out.push(*byte);
        }
    }
    out
}

fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(octal);
        let (byte, after) = match code {
            Some(byte) => (byte, &after[3..]),
            None => (*first, after),
        };
        out.push(byte);
        rest = after;
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    let is_octal = |digit: &u8| (b'0'..b'8').contains(digit);
    let number = |sum: u32, digit: &u8| sum * 8 + u32::from(digit - b'0');
    digits.iter().all(is_octal).then(|| digits.iter().fold(0, number))?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    #[test]
    fn lines_are_read_with_their_blanks_comments_and_gaps() {
        let row = Row::parse(b"  srv:/x \t /my\\040disk \t nfs\r").unwrap();
        assert_eq!(
            (row.device.as_slice(), row.point.as_slice()),
            (&b"srv:/x"[..], &b"/my disk"[..])
        );
        assert_eq!((row.fstype, row.options), (Some(b"nfs".to_vec()), None));
        for line in [&b""[..], b" \t", b"# /dev/a /mnt", b"\t#x /mnt", b"alone"] {
            assert_eq!(Row::parse(line), None, "{line:?}");
        }
        assert!(Row::parse(b"/dev/a /mnt/").unwrap().is_at(b"/mnt"));
        assert!(Row::parse(b"/dev/a /").unwrap().is_at(b"/"));
        assert!(!Row::parse(b"/dev/a /mnt").unwrap().is_at(b"/"));
    }

    #[test]
    fn escapes_are_octal_numbers_of_three_digits() {
        let table =
            [("\\040", " "), ("\\1345", "\\5"), ("\\777", "\\777"), ("\\04", "\\04"), ("\\", "\\")];
        for (field, expected) in table {
            assert_eq!(unescape(field.as_bytes()), expected.as_bytes(), "{field}");
        }
        assert_eq!(escape(b"#a #\t\\"), b"\\043a\\040#\\011\\134");
    }

    #[test]
    fn a_missing_field_is_named_only_before_a_given_one() {
        let mut row = Row { device: b"a".into(), point: b"/b".into(), ..Row::default() };
        assert_eq!(row.line(" "), b"a /b");
        row.pass = Some(b"2".into());
        assert_eq!(row.line(" "), b"a /b auto defaults 0 2");
    }

    #[test]
    fn the_kernels_table_can_have_a_device_without_a_name() {
        let host = fx_host::MemoryHost::linux();
        host.put(MOUNTED, " /tmp tmpfs rw 0 0\n#x /b ext4 rw 0 0\n");
        let points: Vec<_> = mounted(&host).unwrap().into_iter().map(|row| row.point).collect();
        assert_eq!(points, [b"/tmp".to_vec(), b"/b".to_vec()]);
    }

    fn field() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![any::<u8>(), Just(b' '), Just(b'\\'), Just(b'#'), Just(b'0')];
        prop::collection::vec(byte, 1..8)
    }

    fn line() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            Just(b"/data".to_vec()),
            Just(b" ".to_vec()),
            Just(b"\t".to_vec()),
            Just(b"#".to_vec()),
            field().prop_map(|field| field.into_iter().filter(|byte| *byte != b'\n').collect()),
        ];
        prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn any_row_is_read_back_as_written(
            device in field(), point in field(),
            rest in prop::collection::vec(field(), 0..5),
            tabs: bool,
        ) {
            let mut rest = rest.into_iter();
            let mut next = || rest.next();
            let row = Row {
                device, point,
                fstype: next(), options: next(), dump: next(), pass: next(),
            };
            let line = row.line(if tabs { "\t" } else { " \t " });
            assert_eq!(Row::parse(&line), Some(row));
        }

        #[test]
        fn an_edit_leaves_the_lines_of_others_byte_for_byte(
            lines in prop::collection::vec(line(), 0..8), ended: bool,
        ) {
            let mut table = lines.join(&b'\n');
            if ended {
                table.push(b'\n');
            }
            let meant = |row: &Row| row.is_at(b"/data");
            let others = |table: &[u8]| -> Vec<Vec<u8>> {
                let other = |line: &&[u8]| !Row::parse(line).is_some_and(|row| meant(&row));
                text::lines(table).filter(other).map(<[u8]>::to_vec).collect()
            };
            let row = Row { device: b"x".into(), point: b"/data".into(), ..Row::default() };
            let with = with_line(&table, &row.line(" "), &meant);
            assert_eq!(others(&with), others(&table));
            assert!(text::lines(&with).filter_map(Row::parse).any(|found| found == row));
            let without = without(&with, &meant);
            assert_eq!(others(&without), others(&table));
            assert!(!text::lines(&without).filter_map(Row::parse).any(|found| meant(&found)));
        }
    }
}
