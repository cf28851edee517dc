//! Encodings: names, character boundaries, compatibility, transcoding.
//!
//! UTF-8, binary and US-ASCII are complete. UTF-16/32 and the single-byte Latin encodings
//! can be transcoded; others are names only.

use crate::heap::{Enc, RString};

pub(crate) const UTF8: Enc = 0;
pub(crate) const BINARY: Enc = 1;
pub(crate) const ASCII: Enc = 2;
pub(crate) const UTF16LE: Enc = 3;
pub(crate) const UTF16BE: Enc = 4;
pub(crate) const UTF32LE: Enc = 5;
pub(crate) const UTF32BE: Enc = 6;
pub(crate) const LATIN1: Enc = 7;
pub(crate) const CP1252: Enc = 8;
pub(crate) const EUC_JP: Enc = 9;
pub(crate) const SJIS: Enc = 10;

/// Name and aliases of each encoding; the position is its number.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    ("UTF-8", &["CP65001"]),
    ("ASCII-8BIT", &["BINARY"]),
    ("US-ASCII", &["ASCII", "ANSI_X3.4-1968", "646"]),
    ("UTF-16LE", &[]),
    ("UTF-16BE", &["UCS-2BE"]),
    ("UTF-32LE", &["UCS-4LE"]),
    ("UTF-32BE", &["UCS-4BE"]),
    ("ISO-8859-1", &["ISO8859-1"]),
    ("Windows-1252", &["CP1252"]),
    ("EUC-JP", &["eucJP"]),
    ("Shift_JIS", &[]),
    ("Windows-31J", &["CP932", "csWindows31J", "SJIS", "PCK"]),
    ("ISO-8859-2", &["ISO8859-2"]),
    ("ISO-8859-15", &["ISO8859-15"]),
    ("Windows-1251", &["CP1251"]),
    ("Windows-1250", &["CP1250"]),
    ("KOI8-R", &["CP878"]),
    ("UTF-16", &[]),
    ("UTF-32", &[]),
    ("ISO-2022-JP", &["ISO2022-JP"]),
    ("UTF-7", &["CP65000"]),
    ("Big5", &["CP950"]),
    ("GBK", &["CP936"]),
    ("EUC-KR", &["eucKR"]),
    ("GB18030", &[]),
    ("IBM437", &["CP437"]),
    ("Emacs-Mule", &[]),
    ("ISO-8859-9", &["ISO8859-9"]),
    ("ISO-8859-5", &["ISO8859-5"]),
    ("ISO-8859-4", &["ISO8859-4"]),
    ("ISO-8859-3", &["ISO8859-3"]),
    ("UTF8-MAC", &["UTF-8-MAC", "UTF-8-HFS"]),
    ("EUC-TW", &["eucTW"]),
    ("stateless-ISO-2022-JP", &[]),
    ("macCroatian", &[]),
    ("IBM775", &["CP775"]),
    ("IBM850", &["CP850"]),
    ("IBM852", &["CP852"]),
    ("IBM855", &["CP855"]),
    ("IBM866", &["CP866"]),
    ("ISO-8859-6", &["ISO8859-6"]),
    ("ISO-8859-7", &["ISO8859-7"]),
    ("ISO-8859-8", &["ISO8859-8"]),
    ("ISO-8859-10", &["ISO8859-10"]),
    ("ISO-8859-11", &["ISO8859-11"]),
    ("ISO-8859-13", &["ISO8859-13"]),
    ("ISO-8859-14", &["ISO8859-14"]),
    ("ISO-8859-16", &["ISO8859-16"]),
    ("KOI8-U", &[]),
    ("TIS-620", &[]),
    ("Windows-1253", &["CP1253"]),
    ("Windows-1254", &["CP1254"]),
    ("Windows-1257", &["CP1257"]),
];

pub(crate) fn name(enc: Enc) -> &'static str {
    NAMES.get(enc as usize).map_or("UTF-8", |e| e.0)
}

pub(crate) fn find(text: &str) -> Option<Enc> {
    NAMES
        .iter()
        .position(|(name, aliases)| {
            name.eq_ignore_ascii_case(text) || aliases.iter().any(|a| a.eq_ignore_ascii_case(text))
        })
        .map(|i| i as Enc)
        .or(match text.to_ascii_lowercase().as_str() {
            "external" | "locale" | "filesystem" => Some(UTF8),
            _ => None,
        })
}

/// Whether bytes below 128 mean ASCII.
pub(crate) fn ascii_compatible(enc: Enc) -> bool {
    !matches!(enc, UTF16LE | UTF16BE | UTF32LE | UTF32BE | 17 | 18 | 19 | 20)
}

pub(crate) fn is_unicode(enc: Enc) -> bool {
    matches!(enc, UTF8 | UTF16LE | UTF16BE | UTF32LE | UTF32BE | 17 | 18 | 31)
}

/// 1 ASCII only, 2 valid, 3 broken.
pub(crate) fn code_range(s: &RString) -> u8 {
    let known = s.range.get();
    if known != 0 {
        return known;
    }
    let found = scan(&s.bytes, s.enc);
    s.range.set(found);
    found
}

pub(crate) fn scan(bytes: &[u8], enc: Enc) -> u8 {
    if ascii_compatible(enc) && bytes.is_ascii() {
        return 1;
    }
    match enc {
        UTF8 | 31 => {
            if std::str::from_utf8(bytes).is_ok() {
                2
            } else {
                3
            }
        }
        ASCII => 3,
        UTF16LE | UTF16BE | UTF32LE | UTF32BE => {
            let mut at = 0;
            while at < bytes.len() {
                let (len, good) = char_len(&bytes[at..], enc);
                if !good {
                    return 3;
                }
                at += len;
            }
            2
        }
        EUC_JP | SJIS | 11 => {
            let mut at = 0;
            while at < bytes.len() {
                let (len, good) = char_len(&bytes[at..], enc);
                if !good {
                    return 3;
                }
                at += len;
            }
            2
        }
        _ => 2,
    }
}

pub(crate) fn is_ascii(s: &RString) -> bool {
    code_range(s) == 1
}

pub(crate) fn valid(s: &RString) -> bool {
    code_range(s) != 3
}

/// Two strings of different encodings with equal bytes are equal when both are ASCII.
pub(crate) fn comparable(a: &RString, b: &RString) -> bool {
    a.enc == b.enc || a.bytes.is_empty() || (is_ascii(a) && is_ascii(b))
}

/// The encoding a concatenation has, or None.
pub(crate) fn compatible(a: &RString, b: &RString) -> Option<Enc> {
    if a.enc == b.enc || b.bytes.is_empty() {
        return Some(a.enc);
    }
    if a.bytes.is_empty() {
        let keep = ascii_compatible(a.enc) && is_ascii(b);
        return Some(if keep { a.enc } else { b.enc });
    }
    if !ascii_compatible(a.enc) || !ascii_compatible(b.enc) {
        return None;
    }
    if is_ascii(b) {
        return Some(a.enc);
    }
    if is_ascii(a) {
        return Some(b.enc);
    }
    None
}

/// Length of the first character, and whether it is a good one. The bytes are not empty.
pub(crate) fn char_len(b: &[u8], enc: Enc) -> (usize, bool) {
    match enc {
        UTF8 | 31 => utf8_len(b),
        UTF16LE | UTF16BE => {
            if b.len() < 2 {
                return (b.len(), false);
            }
            let unit = |i: usize| {
                if enc == UTF16LE {
                    u16::from_le_bytes([b[i], b[i + 1]])
                } else {
                    u16::from_be_bytes([b[i], b[i + 1]])
                }
            };
            let u = unit(0);
            if (0xD800..0xDC00).contains(&u) {
                if b.len() < 4 {
                    return (b.len().min(2), false);
                }
                let low = (0xDC00..0xE000).contains(&unit(2));
                return (if low { 4 } else { 2 }, low);
            }
            (2, !(0xDC00..0xE000).contains(&u))
        }
        UTF32LE | UTF32BE => {
            if b.len() < 4 {
                return (b.len(), false);
            }
            let a = [b[0], b[1], b[2], b[3]];
            let u = if enc == UTF32LE { u32::from_le_bytes(a) } else { u32::from_be_bytes(a) };
            (4, char::from_u32(u).is_some())
        }
        EUC_JP => match b[0] {
            0..=0x7F => (1, true),
            0x8E if b.len() > 1 => (2, b[1] >= 0xA1),
            0x8F => {
                if b.len() > 2 {
                    (3, true)
                } else {
                    (b.len(), false)
                }
            }
            0xA1..=0xFE if b.len() > 1 && b[1] >= 0xA1 => (2, true),
            _ => (1, false),
        },
        SJIS | 11 => match b[0] {
            0..=0x7F | 0xA1..=0xDF => (1, true),
            0x81..=0x9F | 0xE0..=0xFC if b.len() > 1 && b[1] >= 0x40 && b[1] != 0x7F => (2, true),
            _ => (1, false),
        },
        ASCII => (1, b[0] < 128),
        _ => (1, true),
    }
}

fn utf8_len(b: &[u8]) -> (usize, bool) {
    let first = b[0];
    if first < 0x80 {
        return (1, true);
    }
    let want = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return (1, false),
    };
    if b.len() >= want && std::str::from_utf8(&b[..want]).is_ok() {
        return (want, true);
    }
    (1, false)
}

/// Ranges of the characters of a string.
pub(crate) fn chars(bytes: &[u8], enc: Enc) -> Vec<(usize, usize)> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (len, _) = char_len(&bytes[at..], enc);
        out.push((at, at + len));
        at += len.max(1);
    }
    out
}

pub(crate) fn count(s: &RString) -> usize {
    if single(s) {
        return s.bytes.len();
    }
    if s.enc == UTF8 && code_range(s) == 2 {
        return s.bytes.iter().filter(|b| (**b & 0xC0) != 0x80).count();
    }
    let mut at = 0;
    let mut n = 0;
    while at < s.bytes.len() {
        at += char_len(&s.bytes[at..], s.enc).0.max(1);
        n += 1;
    }
    n
}

/// Whether characters are bytes.
pub(crate) fn single(s: &RString) -> bool {
    code_range(s) == 1
        || !matches!(s.enc, UTF8 | UTF16LE | UTF16BE | UTF32LE | UTF32BE | EUC_JP | SJIS | 11 | 31)
}

/// Byte offset of the character at an index; the length when past the end by none.
pub(crate) fn offset(s: &RString, index: usize) -> Option<usize> {
    if single(s) {
        return if index <= s.bytes.len() { Some(index) } else { None };
    }
    let mut at = 0;
    let mut left = index;
    while left > 0 {
        if at >= s.bytes.len() {
            return None;
        }
        at += char_len(&s.bytes[at..], s.enc).0.max(1);
        left -= 1;
    }
    Some(at)
}

/// Number of characters before a byte offset.
pub(crate) fn index_of(s: &RString, offset: usize) -> usize {
    if single(s) {
        return offset;
    }
    let mut at = 0;
    let mut n = 0;
    while at < offset && at < s.bytes.len() {
        at += char_len(&s.bytes[at..], s.enc).0.max(1);
        n += 1;
    }
    n
}

/// The code point of a good character.
pub(crate) fn codepoint(b: &[u8], enc: Enc) -> Option<u32> {
    let (len, good) = char_len(b, enc);
    if !good {
        return None;
    }
    Some(match enc {
        UTF8 | 31 => std::str::from_utf8(&b[..len]).ok()?.chars().next()? as u32,
        UTF16LE | UTF16BE => {
            let unit = |i: usize| {
                u32::from(if enc == UTF16LE {
                    u16::from_le_bytes([b[i], b[i + 1]])
                } else {
                    u16::from_be_bytes([b[i], b[i + 1]])
                })
            };
            if len == 4 {
                0x10000 + ((unit(0) - 0xD800) << 10) + (unit(2) - 0xDC00)
            } else {
                unit(0)
            }
        }
        UTF32LE => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        UTF32BE => u32::from_be_bytes([b[0], b[1], b[2], b[3]]),
        _ => b[..len].iter().fold(0, |a, x| a << 8 | u32::from(*x)),
    })
}

/// Bytes of a code point in an encoding.
pub(crate) fn encode_char(code: u32, enc: Enc) -> Option<Vec<u8>> {
    match enc {
        UTF8 | 31 => {
            let mut buffer = [0; 4];
            Some(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes().to_vec())
        }
        UTF16LE | UTF16BE => {
            let mut buffer = [0; 2];
            let units = char::from_u32(code)?.encode_utf16(&mut buffer);
            Some(
                units
                    .iter()
                    .flat_map(|u| if enc == UTF16LE { u.to_le_bytes() } else { u.to_be_bytes() })
                    .collect(),
            )
        }
        UTF32LE => Some(code.to_le_bytes().to_vec()),
        UTF32BE => Some(code.to_be_bytes().to_vec()),
        ASCII => {
            if code < 128 {
                Some(vec![code as u8])
            } else {
                None
            }
        }
        EUC_JP | SJIS | 11 => {
            let bytes: Vec<u8> =
                code.to_be_bytes().iter().copied().skip_while(|b| *b == 0).collect();
            Some(if bytes.is_empty() { vec![0] } else { bytes })
        }
        _ => {
            if code < 256 {
                Some(vec![code as u8])
            } else {
                None
            }
        }
    }
}

const CP1252_HIGH: [u32; 32] = [
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039,
    0x152, 0x8D, 0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC,
    0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
];

/// A character of an encoding as Unicode.
pub(crate) fn to_unicode(b: &[u8], enc: Enc) -> Option<u32> {
    match enc {
        UTF8 | UTF16LE | UTF16BE | UTF32LE | UTF32BE | 31 => codepoint(b, enc),
        LATIN1 => Some(u32::from(b[0])),
        CP1252 => Some(if (0x80..0xA0).contains(&b[0]) {
            CP1252_HIGH[(b[0] - 0x80) as usize]
        } else {
            u32::from(b[0])
        }),
        13 => Some(match b[0] {
            0xA4 => 0x20AC,
            0xA6 => 0x160,
            0xA8 => 0x161,
            0xB4 => 0x17D,
            0xB8 => 0x17E,
            0xBC => 0x152,
            0xBD => 0x153,
            0xBE => 0x178,
            x => u32::from(x),
        }),
        EUC_JP => match b {
            [x, ..] if *x < 128 => Some(u32::from(*x)),
            [0xA4, y, ..] => Some(0x3041 + u32::from(*y) - 0xA1),
            [0xA5, y, ..] => Some(0x30A1 + u32::from(*y) - 0xA1),
            _ => None,
        },
        _ => {
            if b[0] < 128 {
                Some(u32::from(b[0]))
            } else {
                None
            }
        }
    }
}

pub(crate) fn from_unicode(code: u32, enc: Enc) -> Option<Vec<u8>> {
    match enc {
        UTF8 | UTF16LE | UTF16BE | UTF32LE | UTF32BE | 31 => encode_char(code, enc),
        LATIN1 => {
            if code < 256 {
                Some(vec![code as u8])
            } else {
                None
            }
        }
        CP1252 => {
            if code < 128 || (0xA0..256).contains(&code) {
                return Some(vec![code as u8]);
            }
            CP1252_HIGH.iter().position(|c| *c == code).map(|i| vec![i as u8 + 0x80])
        }
        13 => match code {
            0x20AC => Some(vec![0xA4]),
            _ if code < 256 => Some(vec![code as u8]),
            _ => None,
        },
        EUC_JP => match code {
            0..=127 => Some(vec![code as u8]),
            0x3041..=0x3093 => Some(vec![0xA4, (code - 0x3041) as u8 + 0xA1]),
            0x30A1..=0x30F6 => Some(vec![0xA5, (code - 0x30A1) as u8 + 0xA1]),
            _ => None,
        },
        _ => {
            if code < 128 {
                Some(vec![code as u8])
            } else {
                None
            }
        }
    }
}
