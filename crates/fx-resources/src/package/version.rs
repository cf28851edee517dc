//! Which of two versions is newer, by the rules of each package manager. Pure text.

use std::cmp::Ordering;

/// Debian's order: epoch, upstream version, revision; `~` sorts before the end.
pub fn dpkg(a: &str, b: &str) -> Ordering {
    let split = |text: &str| -> (u64, String, String) {
        let (epoch, rest) = text.split_once(':').unwrap_or(("0", text));
        let (version, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
        (epoch.trim().parse().unwrap_or(0), version.to_owned(), revision.to_owned())
    };
    let (a, b) = (split(a.trim()), split(b.trim()));
    a.0.cmp(&b.0)
        .then_with(|| dpkg_part(a.1.as_bytes(), b.1.as_bytes()))
        .then_with(|| dpkg_part(a.2.as_bytes(), b.2.as_bytes()))
}

// Text and numbers in turn. In text `~` comes before the end, letters before the rest.
fn dpkg_part(mut a: &[u8], mut b: &[u8]) -> Ordering {
    let weight = |byte: Option<&u8>| match byte {
        Some(b'~') => -1,
        None => 0,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    };
    let is_text = |bytes: &[u8]| bytes.first().is_some_and(|byte| !byte.is_ascii_digit());
    while !a.is_empty() || !b.is_empty() {
        while is_text(a) || is_text(b) {
            let order = weight(a.first()).cmp(&weight(b.first()));
            if order.is_ne() {
                return order;
            }
            a = a.get(1..).unwrap_or_default();
            b = b.get(1..).unwrap_or_default();
        }
        let (left, rest) = take_number(a);
        a = rest;
        let (right, rest) = take_number(b);
        b = rest;
        let order = number_order(left, right);
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn take_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

// Numbers may have any length, so they are compared as text without leading zeros.
fn number_order(a: &[u8], b: &[u8]) -> Ordering {
    let significant =
        |text: &[u8]| -> usize { text.iter().position(|byte| *byte != b'0').unwrap_or(text.len()) };
    let (a, b) = (&a[significant(a)..], &b[significant(b)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The parts of `epoch:version-release`; those left out are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evr<'a> {
    /// Outranks the rest; zero where not given.
    pub epoch: Option<&'a str>,
    /// The version proper.
    pub version: &'a str,
    /// The packager's count.
    pub release: Option<&'a str>,
}

impl Evr<'_> {
    /// Takes a version text apart.
    pub fn parse(text: &str) -> Evr<'_> {
        let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let (epoch, rest) = match text.split_once(':') {
            Some((epoch, rest)) if numeric(epoch) => (Some(epoch), rest),
            _ => (None, text),
        };
        let (version, release) = match rest.rsplit_once('-') {
            Some((version, release)) => (version, Some(release)),
            None => (rest, None),
        };
        Evr { epoch, version, release }
    }
}

/// RPM's order: epoch, version, release. A missing release equals any.
pub fn rpm(a: &str, b: &str) -> Ordering {
    let (a, b) = (Evr::parse(a), Evr::parse(b));
    let epoch = |evr: Evr<'_>| evr.epoch.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    epoch(a).cmp(&epoch(b)).then_with(|| rpm_part(a.version, b.version)).then_with(|| {
        match (a.release, b.release) {
            (Some(a), Some(b)) => rpm_part(a, b),
            _ => Ordering::Equal,
        }
    })
}

/// RPM's order of one part: runs of digits and of letters; `~` sorts before the end and
/// `^` behind it but before anything else.
pub fn rpm_part(a: &str, b: &str) -> Ordering {
    let separates = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"~^".contains(byte);
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        a = &a[a.iter().position(|byte| !separates(byte)).unwrap_or(a.len())..];
        b = &b[b.iter().position(|byte| !separates(byte)).unwrap_or(b.len())..];
        match (a.first(), b.first()) {
            (Some(b'~'), Some(b'~')) => (a, b) = (&a[1..], &b[1..]),
            (Some(b'~'), _) => return Ordering::Less,
            (_, Some(b'~')) => return Ordering::Greater,
            (Some(b'^'), Some(b'^')) => (a, b) = (&a[1..], &b[1..]),
            (Some(b'^'), None) => return Ordering::Greater,
            (None, Some(b'^')) => return Ordering::Less,
            (Some(b'^'), Some(_)) => return Ordering::Less,
            (Some(_), Some(b'^')) => return Ordering::Greater,
            (None, None) => return Ordering::Equal,
            (Some(_), None) => return Ordering::Greater,
            (None, Some(_)) => return Ordering::Less,
            (Some(left), Some(right)) => {
                let digits = left.is_ascii_digit();
                // A number is newer than letters.
                if digits != right.is_ascii_digit() {
                    return if digits { Ordering::Greater } else { Ordering::Less };
                }
                let run = |text: &[u8]| {
                    let same = |byte: &u8| {
                        if digits { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() }
                    };
                    text.iter().position(|byte| !same(byte)).unwrap_or(text.len())
                };
                let ((left, rest_a), (right, rest_b)) = (a.split_at(run(a)), b.split_at(run(b)));
                let order = if digits { number_order(left, right) } else { left.cmp(right) };
                if order.is_ne() {
                    return order;
                }
                (a, b) = (rest_a, rest_b);
            }
        }
    }
}

/// Alpine's order, where `_alpha`, `_beta`, `_pre` and `_rc` come before the version and
/// `_p` and its kin behind it.
pub fn apk(a: &str, b: &str) -> Ordering {
    let plain = |text: &str| {
        let mut text = text.to_owned();
        for before in ["_alpha", "_beta", "_pre", "_rc"] {
            text = text.replace(before, &before.replace('_', "~"));
        }
        text.replace('_', "+")
    };
    dpkg(&plain(a), &plain(b))
}

/// Python's order as far as releases go: `a`, `b`, `rc` and `dev` come before the version,
/// `post` behind it, and trailing zeros do not count.
pub fn python(a: &str, b: &str) -> Ordering {
    let plain = |text: &str| {
        let text = text.to_lowercase();
        let text = text.strip_prefix('v').unwrap_or(&text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (release, suffix) = text.split_at(end);
        let mut release = release.trim_end_matches('.');
        while let Some(shorter) = release.strip_suffix(".0") {
            release = shorter;
        }
        let suffix = suffix.trim_start_matches(['.', '-', '_']);
        let mark = if suffix.is_empty() || suffix.starts_with("post") || suffix.starts_with('+') {
            ""
        } else if suffix.starts_with("dev") {
            "~~"
        } else {
            "~"
        };
        format!("{release}{mark}{}", suffix.replace("dev", "~dev"))
    };
    dpkg(&plain(a), &plain(b))
}

/// Ruby's order: a segment with letters makes a prerelease, trailing zeros do not count.
pub fn ruby(a: &str, b: &str) -> Ordering {
    let segments = |text: &str| {
        let mut out: Vec<String> = Vec::new();
        let mut digits = None;
        for c in text.replace('-', ".pre.").chars() {
            if c == '.' {
                digits = None;
            } else if digits == Some(c.is_ascii_digit()) {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            } else {
                digits = Some(c.is_ascii_digit());
                out.push(c.to_string());
            }
        }
        while out.last().is_some_and(|last| last.bytes().all(|byte| byte == b'0')) {
            out.pop();
        }
        out
    };
    let (a, b) = (segments(a), segments(b));
    let zero = "0".to_owned();
    for index in 0..a.len().max(b.len()) {
        let (left, right) = (a.get(index).unwrap_or(&zero), b.get(index).unwrap_or(&zero));
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let order = match (number(left), number(right)) {
            (true, true) => number_order(left.as_bytes(), right.as_bytes()),
            (false, false) => left.cmp(right),
            // Letters come before numbers, also before the zero that is not written.
            (left, _) => {
                if left {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests;
