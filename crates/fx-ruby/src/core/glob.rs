//! `Dir.glob` for one pattern without braces: a walk over directories, a name at a time.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_host::Kind;

use crate::interp::to_path;
use crate::object::c;
use crate::vm::{Args, R, Vm};

/// Flags of `File::FNM_…`.
const NOESCAPE: i64 = 1;
const DOTMATCH: i64 = 4;
const CASEFOLD: i64 = 8;

/// One name of a pattern.
enum Part {
    /// `**`: any number of directories.
    Deep,
    Name(Vec<u8>),
    Match(Vec<u8>),
}

struct Glob {
    parts: Vec<Part>,
    flags: i64,
    /// The pattern ends with a slash: directories only.
    directories: bool,
    /// A base was given: it stands for itself as `/`.
    based: bool,
    found: Vec<Vec<u8>>,
}

pub(crate) fn init(vm: &mut Vm) {
    // pattern, flags, base or nil
    let d = c::DIR;
    vm.def_single(d, "__glob", glob, 3, 3);
}

fn glob(vm: &mut Vm, a: Args) -> R {
    let pattern = vm.bytes(vm.arg(a, 0)).to_vec();
    let flags = vm.arg(a, 1);
    let flags = vm.to_int(flags)?;
    let base = vm.arg(a, 2);
    let base = if base.is_str() { vm.bytes(base).to_vec() } else { Vec::new() };
    vm.write_back();
    let absolute = pattern.first() == Some(&b'/');
    let mut parts = Vec::new();
    for name in pattern.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
        parts.push(part(name, flags));
    }
    let mut glob = Glob {
        directories: pattern.last() == Some(&b'/'),
        based: !base.is_empty(),
        found: Vec::new(),
        flags,
        parts,
    };
    // A last `**` is an ordinary name, unless only directories are wanted.
    if let Some(last @ Part::Deep) = glob.parts.last_mut()
        && !glob.directories
    {
        *last = Part::Match(b"*".to_vec());
    }
    if glob.parts.is_empty() {
        let root = if absolute { vec![vm.str("/")] } else { Vec::new() };
        return Ok(vm.arr(root));
    }
    let root = if absolute { b"/".to_vec() } else { vm.absolute(&base) };
    let shown = if absolute { b"/".to_vec() } else { Vec::new() };
    glob.walk(vm, &to_path(&root), &shown, 0, None);
    let mut seen = rustc_hash::FxHashSet::default();
    let several = glob.parts.iter().filter(|part| matches!(part, Part::Deep)).count() > 1;
    let mut list = Vec::with_capacity(glob.found.len());
    for path in glob.found {
        if !several || seen.insert(path.clone()) {
            list.push(vm.str(path));
        }
    }
    Ok(vm.arr(list))
}

fn part(name: &[u8], flags: i64) -> Part {
    if name == b"**" {
        return Part::Deep;
    }
    if name.iter().any(|b| matches!(b, b'*' | b'?' | b'[')) || flags & CASEFOLD != 0 {
        return Part::Match(name.to_vec());
    }
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter().copied();
    while let Some(byte) = bytes.next() {
        plain.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
    }
    Part::Name(plain)
}

impl Glob {
    fn walk(&mut self, vm: &Vm, dir: &Path, shown: &[u8], at: usize, kind: Option<Kind>) {
        self.walk_in(vm, dir, shown, at, kind, None);
    }

    /// As [`Glob::walk`], with what the directory holds if that is known already.
    fn walk_in(
        &mut self,
        vm: &Vm,
        dir: &Path,
        shown: &[u8],
        at: usize,
        kind: Option<Kind>,
        known: Option<&[fx_host::Entry]>,
    ) {
        let Some(part) = self.parts.get(at) else {
            self.take(vm, dir, shown, kind);
            return;
        };
        match part {
            Part::Deep => {
                let entries = listed(vm, dir);
                self.walk_in(vm, dir, shown, at + 1, kind, Some(&entries));
                for entry in entries {
                    let name = entry.name.as_bytes();
                    if name[0] == b'.' && self.flags & DOTMATCH == 0 {
                        continue;
                    }
                    let full = dir.join(&entry.name);
                    let kind = entry.kind.or_else(|| Some(vm.host.lstat_opt(&full).ok()??.kind));
                    if kind == Some(Kind::Directory) {
                        self.walk(vm, &full, &below(shown, name), at, kind);
                    }
                }
            }
            Part::Match(pattern) => {
                let pattern = pattern.clone();
                let last = at + 1 == self.parts.len();
                let dots = pattern[0] == b'.' || self.flags & DOTMATCH != 0;
                if dots && last && matches(&pattern, b".", self.flags) {
                    self.walk(vm, dir, &below(shown, b"."), at + 1, kind);
                }
                let own;
                let entries = match known {
                    Some(entries) => entries,
                    None => {
                        own = listed(vm, dir);
                        &own
                    }
                };
                for entry in entries {
                    let name = entry.name.as_bytes();
                    if !matches(&pattern, name, self.flags) {
                        continue;
                    }
                    let shown = below(shown, name);
                    if last && !self.directories {
                        self.found.push(shown);
                    } else if matches!(entry.kind, None | Some(Kind::Directory | Kind::Symlink)) {
                        self.walk(vm, &dir.join(&entry.name), &shown, at + 1, entry.kind);
                    }
                }
            }
            Part::Name(name) => {
                let full: PathBuf = dir.join(to_path(name));
                let shown = below(shown, name);
                // What lies below is looked at by whoever comes next.
                let next = matches!(self.parts.get(at + 1), Some(Part::Name(_) | Part::Match(_)));
                if next || vm.host.lstat_opt(&full).is_ok_and(|meta| meta.is_some()) {
                    self.walk(vm, &full, &shown, at + 1, None);
                }
            }
        }
    }

    fn take(&mut self, vm: &Vm, path: &Path, shown: &[u8], kind: Option<Kind>) {
        if !self.directories {
            self.found.push(shown.to_vec());
            return;
        }
        // The listing that the name is from has said so already.
        let is_dir = kind == Some(Kind::Directory)
            || vm.host.stat_opt(path).is_ok_and(|m| m.is_some_and(|m| m.kind == Kind::Directory));
        if is_dir && (self.based || !shown.is_empty()) {
            let mut shown = shown.to_vec();
            if shown != b"/" {
                shown.push(b'/');
            }
            self.found.push(shown);
        }
    }
}

/// What a directory holds; nothing if it cannot be read.
fn listed(vm: &Vm, dir: &Path) -> Vec<fx_host::Entry> {
    vm.file_read(dir.as_os_str().as_bytes());
    vm.host.list(dir).unwrap_or_default()
}

fn below(shown: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(shown.len() + name.len() + 1);
    path.extend_from_slice(shown);
    if !shown.is_empty() && shown != b"/" {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Whether a name fits one name of a pattern.
fn matches(pattern: &[u8], name: &[u8], flags: i64) -> bool {
    if name[0] == b'.' && pattern[0] != b'.' && pattern[0] != b'\\' && flags & DOTMATCH == 0 {
        return false;
    }
    // Where the last star stands and how far it has reached.
    let (mut p, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == b'*' {
            p += 1;
            star = Some((p, at));
            continue;
        }
        if at == name.len() && p == pattern.len() {
            return true;
        }
        if let Some((next, taken)) = one(&pattern[p..], &name[at..], flags) {
            (p, at) = (p + next, at + taken);
            continue;
        }
        let Some((after, from)) = star else { return false };
        if from >= name.len() {
            return false;
        }
        star = Some((after, from + letter(&name[from..]).1));
        (p, at) = (after, from + letter(&name[from..]).1);
    }
}

/// The first letter of a text and how many bytes it takes; a byte where it is none.
fn letter(text: &[u8]) -> (u32, usize) {
    let width = match text.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    let decoded = text.get(..width).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match decoded.and_then(|text| text.chars().next()) {
        Some(letter) => (u32::from(letter), width),
        None => (u32::from(text.first().copied().unwrap_or(0)), 1),
    }
}

fn folded(letter: u32, flags: i64) -> u32 {
    match char::from_u32(letter) {
        Some(c) if flags & CASEFOLD != 0 => c.to_lowercase().next().map_or(letter, u32::from),
        _ => letter,
    }
}

/// How many bytes of the pattern and of the name fit each other, one letter of the name.
fn one(pattern: &[u8], name: &[u8], flags: i64) -> Option<(usize, usize)> {
    let first = *pattern.first()?;
    if name.is_empty() {
        return None;
    }
    let (seen, taken) = letter(name);
    match first {
        b'?' => Some((1, taken)),
        b'[' => {
            let end = pattern.iter().skip(2).position(|b| *b == b']')? + 2;
            let negated = matches!(pattern[1], b'!' | b'^');
            let set = &pattern[1 + usize::from(negated)..end];
            (in_set(set, seen, flags) != negated).then_some((end + 1, taken))
        }
        _ => {
            let skip = usize::from(first == b'\\' && flags & NOESCAPE == 0 && pattern.len() > 1);
            let (wanted, width) = letter(&pattern[skip..]);
            (folded(wanted, flags) == folded(seen, flags)).then_some((skip + width, taken))
        }
    }
}

fn in_set(mut set: &[u8], seen: u32, flags: i64) -> bool {
    let seen = folded(seen, flags);
    while !set.is_empty() {
        let (low, width) = letter(set);
        set = &set[width..];
        let mut high = low;
        if set.first() == Some(&b'-') && set.len() > 1 {
            let (end, width) = letter(&set[1..]);
            high = end;
            set = &set[1 + width..];
        }
        if (folded(low, flags)..=folded(high, flags)).contains(&seen) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        let rows: [(&str, &str, i64, bool); 15] = [
            ("*.rb", "a.rb", 0, true),
            ("*.rb", ".rb", 0, false),
            ("*.rb", ".rb", DOTMATCH, true),
            (".*", ".rb", 0, true),
            ("a*b*c", "axxbyyc", 0, true),
            ("a*b*c", "axxbyyd", 0, false),
            ("f?", "fé", 0, true),
            ("[a-c]x", "bx", 0, true),
            ("[!a-c]x", "bx", 0, false),
            ("[^a-c]x", "zx", 0, true),
            ("[a", "[a", 0, false),
            ("\\*", "*", 0, true),
            ("\\*", "a", 0, false),
            ("A*", "abc", CASEFOLD, true),
            ("**", "abc", 0, true),
        ];
        for (pattern, name, flags, fits) in rows {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes(), flags),
                fits,
                "{pattern} {name}"
            );
        }
    }
}
