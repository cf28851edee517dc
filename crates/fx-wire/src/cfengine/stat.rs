//! What a server says of a file: thirteen numbers.

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Link,
    Directory,
    Fifo,
    Block,
    Character,
    Socket,
}

const KINDS: [FileKind; 7] = [
    FileKind::File,
    FileKind::Link,
    FileKind::Directory,
    FileKind::Fifo,
    FileKind::Block,
    FileKind::Character,
    FileKind::Socket,
];

/// The longest that each number may be.
const WIDTHS: [usize; 13] = [1, 5, 14, 14, 14, 18, 14, 14, 14, 1, 14, 14, 18];

/// What a server says of a file. The target of a link comes in a transaction of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    /// Permission bits.
    pub mode: u32,
    /// Those of a link itself.
    pub link_mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub atime: i64,
    pub mtime: i64,
    pub ctime: i64,
    pub has_holes: bool,
    pub ino: i64,
    pub nlink: i64,
    pub dev: i64,
}

impl Stat {
    /// The line of an answer.
    pub fn line(&self) -> String {
        let kind = KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        // The original prints both as an int; its reader takes no more.
        let (ino, nlink) = (self.ino as i32, self.nlink as i32);
        format!(
            "OK: {kind} {} {} {} {} {} {} {} {} {} {ino} {nlink} {}",
            self.mode,
            self.link_mode,
            self.uid,
            self.gid,
            self.size,
            self.atime,
            self.mtime,
            self.ctime,
            u8::from(self.has_holes),
            self.dev
        )
    }

    /// The numbers of a line that begins with `OK: `.
    pub fn parse(line: &[u8]) -> Option<Stat> {
        let text = std::str::from_utf8(line).ok()?.trim_end_matches('\0');
        let mut words = text.strip_prefix("OK: ")?.split(' ');
        let mut numbers = [0_i64; 13];
        for (number, width) in numbers.iter_mut().zip(WIDTHS) {
            let word = words.next()?;
            if word.trim_start_matches('-').len() > width {
                return None;
            }
            *number = word.parse().ok()?;
        }
        let [kind, mode, link_mode, uid, gid, size, atime, mtime, ctime, holes, ino, nlink, dev] =
            numbers;
        Some(Stat {
            kind: *KINDS.get(usize::try_from(kind).ok()?)?,
            mode: u32::try_from(mode).ok()? & 0o7777,
            link_mode: u32::try_from(link_mode).ok()?,
            uid: u32::try_from(uid).ok()?,
            gid: u32::try_from(gid).ok()?,
            size: u64::try_from(size).ok()?,
            atime,
            mtime,
            ctime,
            has_holes: holes != 0,
            ino,
            nlink,
            dev,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_original_are_read_and_written() {
        for line in [
            "OK: 2 493 0 0 0 180 1794881875 1794881875 1794881875 1 109 3 41",
            "OK: 0 420 0 0 0 6 1794881875 1794881875 1794881875 0 69 2 42",
            "OK: 1 511 511 0 0 9 1794881877 1794881875 1794881875 1 -73 1 42",
        ] {
            let stat = Stat::parse(line.as_bytes()).unwrap();
            assert_eq!(stat.line(), line);
        }
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for line in [
            "",
            "OK:",
            "BAD: x",
            "OK: 9 493 0 0 0 180 1 1 1 1 1 1 1",
            "OK: 0 493 0 0 0 180 1 1 1 1 1 1",
            "OK: 0 493 0 0 0 -1 1 1 1 1 1 1 1",
            "OK: 0 493 0 0 0 99999999999999999999 1 1 1 1 1 1 1",
            "OK: 0 493000 0 0 0 1 1 1 1 1 1 1 1",
            "OK: 0 x 0 0 0 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line}");
        }
    }
}
